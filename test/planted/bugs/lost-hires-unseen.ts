import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hires that a restored store does not know looked for nowhere',
  patches: [
    {
      file: 'activities/reconcile/run.ts',
      find: '    isRestored: !isFirst && tenant.fully_reconciled_at === null,',
      replace: '    isRestored: false,',
    },
  ],
  caughtBy: tests(/who left since then is followed/, 'test/activities/reconcile/restored.test.ts'),
};
