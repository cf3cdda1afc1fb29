import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'rounds of chores overlap',
  patches: [{ file: 'src/worker/chores.ts', find: 'rounding ??= round(', replace: 'rounding = round(' }],
  caughtBy: tests(/FAIL .*no round of chores begins before the last one has ended/, 'test/worker/chore-rounds.test.ts'),
};
