import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'failure that lasts is silent',
  patches: [
    {
      file: 'activities/create-activities.ts',
      find: 'const LASTING_MS = 900_000;',
      replace: 'const LASTING_MS = 900_000_000;',
    },
  ],
  caughtBy: tests(/is an alarm once it has lasted 15 minutes/, 'test/activities/watch-activity.test.ts'),
};
