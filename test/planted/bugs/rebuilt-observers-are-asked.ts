import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a tenant of a company that only observes is asked about who was hired before, as if its hires were under way',
  patches: [
    {
      file: 'activities/reconcile/baseline.ts',
      find: '    if (!onlyObserves) await askAbout',
      replace: '    await askAbout',
    },
  ],
  caughtBy: tests(/FAIL .*one that only observes is not asked/, 'test/activities/reconcile/restored.test.ts'),
};
