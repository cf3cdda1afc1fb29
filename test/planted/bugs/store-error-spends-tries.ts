import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'store error spends tries of a delivery',
  patches: [
    {
      file: 'src/worker/relay.ts',
      find: "  return typeof code === 'string' && !OF_DATA.test(code);",
      replace: '  return false;',
    },
  ],
  caughtBy: tests(/waits and has not failed: the store does not answer/, 'test/worker/relay.test.ts'),
};
