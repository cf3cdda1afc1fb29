import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a second fall of the total replaces the first',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: 'for (let page = first; page < end; page += 1)',
      replace: 'for (let page = first; page < Math.min(end, reading.slippedTo ?? end); page += 1)',
    },
  ],
  caughtBy: tests(/loses nobody who slips while the pages are read again/, 'test/partner/client/lists.test.ts'),
};
