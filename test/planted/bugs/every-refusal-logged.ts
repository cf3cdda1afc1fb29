import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'each refused delivery writes a line',
  patches: [
    {
      file: 'src/receiver/receiver.ts',
      find: '      if (silence !== undefined) {',
      replace: '      if (silence !== undefined && silence.count < 0) {',
    },
  ],
  caughtBy: tests(/FAIL .*the first of its kind is logged/, 'test/receiver/hostile-senders.test.ts'),
};
