import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a tenant whose store was rebuilt is asked about people on jobs that another tenant takes',
  patches: [
    {
      file: 'activities/reconcile/baseline.ts',
      find: '      if (await isInScope(store, of, jobId)) taken',
      replace: '      taken',
    },
  ],
  caughtBy: tests(/FAIL .*asks about its own jobs alone/, 'test/activities/reconcile/restored.test.ts'),
};
