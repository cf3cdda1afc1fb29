import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'statements in a row keep the event loop',
  patches: [
    {
      file: 'src/sql/dialects.ts',
      find: 'if (performance.now() - rowBegan > MOST_IN_A_ROW_MS) await otherWork();',
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*a thousand statements in a row let the event loop turn/, 'test/sql/sqlite-dialect.test.ts'),
};
