import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a tenant file may name the secret of another',
  patches: [
    {
      file: 'src/tenants/impossible-settings.ts',
      find: 'whyForeign(tenant, named, tenants) ?? whyMisplaced(tenant, named, root)',
      replace: 'whyForeign(tenant, named, []) ?? whyMisplaced(tenant, named, root)',
    },
  ],
  caughtBy: tests(
    /FAIL .*a tenant file that names a secret of another tenant is refused/,
    'test/tenants/own-secrets.test.ts',
  ),
};
