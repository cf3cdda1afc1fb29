import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'slipped rows not read again',
  patches: [
    {
      file: 'activities/streams/pull-pages.ts',
      find: 'reading.rereads < MOST_REREADS ?',
      replace: 'reading.rereads < 0 ?',
    },
  ],
  caughtBy: tests(/FAIL .*answered out of order loses nobody/, 'test/activities/streams/sync-pages.test.ts'),
};
