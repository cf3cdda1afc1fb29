import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'an interrupted reconcile begins anew',
  patches: [
    {
      file: 'activities/reconcile/reconcile.ts',
      find: 'if (saved !== undefined && position !== undefined) return',
      replace: 'if (saved === undefined && position !== undefined) return',
    },
  ],
  caughtBy: tests(/FAIL .*goes on where it was interrupted/, 'test/activities/reconcile/resume.test.ts'),
};
