import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a secret that init writes is readable by everybody on the machine',
  patches: [
    {
      file: 'src/operator/tenants/write-new-files.ts',
      find: '...(isSecret ? { mode: 0o600 } : {})',
      replace: '...(isSecret ? { mode: 0o644 } : {})',
    },
  ],
  caughtBy: tests(/FAIL .*the key where only its owner can read it/, 'test/cli/init.test.ts'),
};
