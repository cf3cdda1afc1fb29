import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'list that ended before its total believed',
  patches: [
    {
      file: 'activities/streams/settle-pages.ts',
      find: 'const isShort = unshown > usual;',
      replace: 'const isShort = unshown > usual && unshown < 0;',
    },
  ],
  caughtBy: tests(
    /FAIL .*a last page that comes empty under a total that says more/,
    'test/activities/streams/sync-pages.test.ts',
  ),
};
