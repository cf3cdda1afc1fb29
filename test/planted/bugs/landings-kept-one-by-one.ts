import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a landed record keeps its row for good',
  patches: [
    {
      file: 'src/store/foreign-writes.ts',
      find: `      .where('outcome', '!=', 'open')
`,
      replace: `      .where('outcome', '=', 'open')
`,
    },
  ],
  caughtBy: tests(/FAIL .*landed records whose values were purged take 60 bytes each/, 'test/store/retention.test.ts'),
};
