import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a lost request that HR may still carry out is taken for none',
  patches: [
    {
      file: 'activities/hire/apply-plan.ts',
      find: "if (settled.kind === 'clear' && !asked && hire.connection.hris.pending !== undefined)",
      replace: 'if (hire.connection.hris === undefined)',
    },
  ],
  caughtBy: tests(
    /is asked about where a lost request may still be under way over there/,
    'test/activities/hire/left-while-created.test.ts',
  ),
};
