import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'good probe of an HR system moves the next one away',
  patches: [
    {
      file: 'src/worker/chores.ts',
      find: "inARow >= GOOD_IN_A_ROW ? 'done' : 'soon'",
      replace: "inARow >= GOOD_IN_A_ROW ? 'done' : 'failed'",
    },
  ],
  caughtBy: tests(/FAIL .*works again after a long trouble/, 'test/worker/chores.test.ts'),
};
