import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'end of the relay waits for what hangs',
  patches: [{ file: 'src/worker/relay.ts', find: 'await within(closeMs, finish());', replace: 'await finish();' }],
  caughtBy: tests(/FAIL .*the end of the relay waits for nothing that hangs/, 'test/worker/relay.test.ts'),
};
