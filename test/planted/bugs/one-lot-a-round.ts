import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'what is old is cleared a lot a round',
  patches: [
    {
      file: 'src/store/retention.ts',
      find: '    if (some < BATCH || performance.now() > until || stop?.aborted) return all;',
      replace: '    if (some <= BATCH || performance.now() > until || stop?.aborted) return all;',
    },
  ],
  caughtBy: tests(/FAIL .*deliveries are cleared by one call/, 'test/store/retention.test.ts'),
};
