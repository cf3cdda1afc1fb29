import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a call outlives its cancelled activity',
  patches: [
    {
      file: 'activities/activity-scope.ts',
      find: 'const signals = [late.signal, signal, cancelled]',
      replace: 'const signals = [late.signal, signal]',
    },
  ],
  caughtBy: tests(
    /FAIL .*a permit is not waited for once its activity is cancelled/,
    'test/activities/activity-scope.test.ts',
  ),
};
