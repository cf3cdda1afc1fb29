import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'filter believed for two applications',
  patches: [
    {
      file: 'activities/presence/fetch-job-candidates.ts',
      find: 'applications.length !== 1',
      replace: 'applications.length === 0',
    },
  ],
  caughtBy: tests(
    /somebody whose other application is in the stage is not in it by the filter/,
    'test/activities/presence/read-presence.test.ts',
  ),
};
