import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a transfer writes fields of six names',
  patches: [
    {
      file: 'activities/hire/plan-employee.ts',
      find: "const isOfJob = readsJob || ['jobCandidate', 'application'].some((source) => readsSource([field], source));",
      replace:
        "const isOfJob = ['jobTitle', 'department', 'team', 'location', 'manager', 'startDate'].includes(target);",
    },
  ],
  caughtBy: tests(/every field that the mapping takes from the job/, 'test/activities/hire/transfer.test.ts'),
};
