import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'leavers beyond fifty forgotten',
  patches: [
    {
      file: 'activities/reconcile/reconcile.ts',
      find: "const noted = await readHints(deps.store, tenantId, 'absent', AT_ONCE);",
      replace: "const noted = (await readHints(deps.store, tenantId, 'absent', AT_ONCE)).slice(0, 50);",
    },
  ],
  caughtBy: tests(/FAIL .*sixty people who leave together/, 'test/activities/reconcile/baseline.test.ts'),
};
