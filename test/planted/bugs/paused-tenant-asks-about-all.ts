import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a delivery that rests at one tenant has all tenants asked about',
  patches: [
    {
      file: 'src/store/inbox.ts',
      find: `    \${withTenantsOf('inbox', IS_WAITING)},
    waiting as`,
      replace: `    with known (tenant_id) as (select tenant_id from tenants where exists (select 1 from inbox where \${IS_WAITING})),
    waiting as`,
    },
  ],
  caughtBy: tests(/FAIL .*deliveries that wait at one paused tenant are looked at/, 'test/store/size.test.ts'),
};
