import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'notifications of all tenants one after the other',
  patches: [
    {
      file: 'src/worker/run-chores.ts',
      find: '[pLimit(MOST_AT_ONCE), pLimit(MOST_FAILING_AT_ONCE)]',
      replace: '[pLimit(1), pLimit(1)]',
    },
  ],
  caughtBy: tests(/FAIL .*a tenant whose notify address hangs keeps no other tenant/, 'test/worker/chores.test.ts'),
};
