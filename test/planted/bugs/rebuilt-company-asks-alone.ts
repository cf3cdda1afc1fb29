import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a tenant of a company takes who was under way for hired before, although another tenant found references',
  patches: [
    {
      file: 'activities/reconcile/baseline.ts',
      find: '!beside.some((one) => one.hasTakenUp)',
      replace: 'beside.length > -1',
    },
  ],
  caughtBy: tests(/the other one asks, too, if sister goes live first/, 'test/activities/reconcile/restored.test.ts'),
};
