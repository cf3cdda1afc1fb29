import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a chore that hangs is begun again',
  patches: [
    {
      file: 'src/worker/run-chores.ts',
      find: 'if (stop.aborted || underWay.has(key)) return;',
      replace: 'if (stop.aborted) return;',
    },
  ],
  caughtBy: tests(/FAIL .*a tenant’s chore that hangs is not begun again/, 'test/worker/chore-rounds.test.ts'),
};
