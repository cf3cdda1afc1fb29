import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'slipped rows not read again',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: 'for (let page = first; page < end; page += 1)',
      replace: 'for (let page = first; page < Math.min(end, first); page += 1)',
    },
  ],
  caughtBy: tests(/loses nobody who slips to a page that was read before/, 'test/partner/client/lists.test.ts'),
};
