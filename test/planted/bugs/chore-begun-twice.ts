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
  caughtBy: tests(/FAIL .*a tenant whose notify address hangs keeps no other tenant/, 'test/worker/chores.test.ts'),
};
