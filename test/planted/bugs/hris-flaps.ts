import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'HR system paused by a single late answer',
  patches: [{ file: 'src/worker/chores.ts', find: 'const BAD_IN_A_ROW = 2;', replace: 'const BAD_IN_A_ROW = 1;' }],
  caughtBy: tests(/FAIL .*an HR system that comes and goes is one hold/, 'test/worker/chores.test.ts'),
};
