import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'list without a total believed to stand still',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: '  if (total === undefined && hasTotal(reading.paging)) reading.slippedTo = Math.max(reading.slippedTo ?? 0, page);\n',
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*a list that tells no total loses nobody/, 'test/partner/client/lists-without-totals.test.ts'),
};
