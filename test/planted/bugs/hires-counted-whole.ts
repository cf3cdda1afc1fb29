import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'all hires are counted each time',
  patches: [
    {
      file: 'src/store/hires.ts',
      find:
        "selectFrom('hire_counts').select(['tenant_id as tenantId', 'state', 'count']);\n" +
        "  return counts.where('count', '>', 0).execute();",
      replace:
        "selectFrom('hires').select(['tenant_id as tenantId', 'state', " +
        "(eb) => eb.fn.countAll<number>().as('count')]);\n" +
        "  return counts.groupBy(['tenant_id', 'state']).execute();",
    },
  ],
  caughtBy: tests(/FAIL .*nothing that metrics and status ask reads what is over/, 'test/store/query-plans.test.ts'),
};
