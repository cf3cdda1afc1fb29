import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'five minutes in another stage make a new period',
  patches: [
    {
      file: 'activities/reconcile/reconcile.ts',
      find: 'hintedAt <= goneBefore',
      replace: 'hintedAt > 0 || goneBefore > 0',
    },
  ],
  caughtBy: tests(/moved out for a short while starts nothing/, 'test/activities/hire/known-person.test.ts'),
};
