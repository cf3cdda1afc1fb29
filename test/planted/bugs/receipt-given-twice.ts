import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'an erasure that ended while somebody else was at it is ended again, with another receipt',
  patches: [
    {
      file: 'activities/erase/carry-out.ts',
      find: '  if (row.receipt !== null) return JSON.parse(row.receipt) as ErasureReceipt;\n',
      replace: '  if (row.receipt !== null) return { ...JSON.parse(row.receipt), doneAt: String(Date.now()) };\n',
    },
  ],
  caughtBy: tests(/a second receipt/, 'test/person/erase-killed.test.ts'),
};
