import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'slipped rows not read again',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: 'page < (reading.slippedTo ?? first)',
      replace: 'page < Math.min(reading.slippedTo ?? first, first)',
    },
  ],
  caughtBy: tests(/loses nobody who slips to a page that was read before/, 'test/partner/client/lists.test.ts'),
};
