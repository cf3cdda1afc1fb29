import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'calls are counted by tenant',
  patches: [
    {
      file: 'src/worker/metrics.ts',
      find: "    names: byTenant ? ['tenant'] : [],",
      replace: "    names: ['tenant'],",
    },
    {
      file: 'src/worker/metrics.ts',
      find: '(byTenant ? { tenant } : {})',
      replace: '(byTenant || tenant ? { tenant } : {})',
    },
  ],
  caughtBy: tests(/FAIL .*a scrape of a thousand tenants is 2,000 series/, 'test/worker/metrics.test.ts'),
};
