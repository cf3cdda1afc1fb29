import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'filter believed against its probe',
  patches: [
    {
      file: 'activities/presence/read-presence.ts',
      find: 'filter?.proven !== true',
      replace: 'filter === undefined',
    },
  ],
  caughtBy: tests(/nobody outside counts as in/, 'test/activities/presence/read-presence.test.ts'),
};
