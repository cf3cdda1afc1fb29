import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'bulk work waits in the queue of the hires',
  patches: [
    {
      file: 'workflows/messages.ts',
      find: 'return `${liveQueue}/bulk`;',
      replace: 'return liveQueue;',
    },
  ],
  caughtBy: tests(/FAIL .*bulk work has a queue of its own/, 'test/temporal/ids.test.ts'),
};
