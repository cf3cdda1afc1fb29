import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'filter believed without a probe',
  patches: [
    {
      file: 'activities/presence/fetch-job-candidates.ts',
      find: 'wanted.length > 0 && (await isProven(store, connection, wanted, listed).catch(unlessRefused))',
      replace: 'wanted.length > 0',
    },
  ],
  caughtBy: tests(/nobody outside counts as in/, 'test/activities/presence/read-presence.test.ts'),
};
