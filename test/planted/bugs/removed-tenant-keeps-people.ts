import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'removed tenant keeps its people',
  patches: [
    {
      file: 'src/store/applied-tenants.ts',
      find: '    await giveUpPeople(trx, tenantId);\n',
      replace: '',
    },
  ],
  caughtBy: tests(/is hired by the tenant that shares its HR system/, 'test/activities/hire/removed-tenant.test.ts'),
};
