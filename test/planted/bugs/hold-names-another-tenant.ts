import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'what a candidate shows of a hold names another tenant',
  patches: [
    {
      file: 'src/hire/holds.ts',
      find: '    entry?.told ?? entry?.what ?? (() =>',
      replace: '    entry?.what ?? entry?.told ?? (() =>',
    },
  ],
  caughtBy: tests(/FAIL .*what stands at the candidate names nobody else/, 'test/hire/holds.test.ts'),
};
