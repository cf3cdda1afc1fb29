import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a secret that init writes is readable by everybody on the machine',
  patches: [
    {
      file: 'src/operator/new-tenant.ts',
      find: '...(isSecret ? { mode: 0o600 } : {})',
      replace: '...(isSecret ? { mode: 0o644 } : {})',
    },
  ],
  caughtBy: tests(/FAIL .*a secret and its folder may be read/, 'test/operator/tenants/write-new-files.test.ts'),
};
