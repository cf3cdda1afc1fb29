import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'rate limit waited for in an activity slot',
  patches: [
    {
      file: 'activities/activity-scope.ts',
      find: 'const PATIENCE_MS = 5_000;',
      replace: 'const PATIENCE_MS = 36_000_000;',
    },
  ],
  caughtBy: tests(/FAIL .*a permit that is an hour away is not waited for/, 'test/activities/activity-scope.test.ts'),
};
