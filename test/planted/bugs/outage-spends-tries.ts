import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'busy Temporal spends tries of a delivery',
  patches: [
    {
      file: 'src/worker/relay.ts',
      find: 'return cause.code !== INVALID_ARGUMENT || ',
      replace: 'return cause.code === 14 || cause.code === 4 || cause.code === -INVALID_ARGUMENT || ',
    },
  ],
  caughtBy: tests(/waits and has not failed: Temporal is too busy/, 'test/worker/relay.test.ts'),
};
