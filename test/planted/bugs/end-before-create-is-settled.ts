import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hire ends while its create is unsettled',
  patches: [
    {
      file: 'activities/hire/apply-plan.ts',
      find: "creation === undefined || creation.outcome === 'refused') return settleUnknown(hire);",
      replace: 'creation === undefined) return settleUnknown(hire);\n  if (creation.attempt > 0) return undefined;',
    },
  ],
  caughtBy: tests(
    /is linked to the employee of a create whose answer was lost/,
    'test/activities/hire/left-while-created.test.ts',
  ),
};
