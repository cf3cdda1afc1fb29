import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a second fall of the total replaces the first',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: 'reading.rereads < MOST_REREADS',
      replace: 'reading.rereads < 1',
    },
  ],
  caughtBy: tests(/loses nobody who slips while the pages are read again/, 'test/partner/client/lists.test.ts'),
};
