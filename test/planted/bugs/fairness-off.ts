import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hires without the fairness key of their tenant',
  patches: [
    {
      file: 'src/temporal/hire-client.ts',
      find: 'priority: { priorityKey: 2, fairnessKey: tenantId },',
      replace: 'priority: { priorityKey: 2 },',
    },
  ],
  caughtBy: tests(/FAIL .*a hire starts under the fairness key of its tenant/, 'test/temporal/ids.test.ts'),
};
