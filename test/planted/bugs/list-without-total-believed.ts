import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'list without a total believed to stand still',
  patches: [
    {
      file: 'src/partner/client/pages.ts',
      find: '? hasTotal(reading.paging) && reading.rereads === 0',
      replace: '? false',
    },
  ],
  caughtBy: tests(/FAIL .*a list that tells no total loses nobody/, 'test/partner/client/lists-without-totals.test.ts'),
};
