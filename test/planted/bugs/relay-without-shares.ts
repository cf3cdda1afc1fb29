import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: "one tenant's deliveries fill the relay",
  patches: [
    { file: 'src/worker/relay.ts', find: 'const MOST_OF_A_TENANT = 8;', replace: 'const MOST_OF_A_TENANT = 256;' },
  ],
  caughtBy: tests(/FAIL .*one tenant whose deliveries hang keeps no other tenant/, 'test/worker/relay.test.ts'),
};
