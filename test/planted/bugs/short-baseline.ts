import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'baseline complete without people whom its totals count',
  patches: [
    {
      file: 'activities/reconcile/reconcile.ts',
      find: "    if (run.kind === 'baseline') await assertWhole(run);\n",
      replace: '',
    },
  ],
  caughtBy: tests(
    /FAIL .*none goes live without people whom its totals tell of/,
    'test/activities/reconcile/baseline.test.ts',
  ),
};
