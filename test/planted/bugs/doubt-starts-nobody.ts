import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire is not started where its stage is in doubt',
  patches: [
    {
      file: 'activities/reconcile/hiring-stages.ts',
      find: 'if (kept === undefined) return true;',
      replace: 'if (kept === undefined) return false;',
    },
  ],
  caughtBy: tests(
    /FAIL .*a partner that cannot be asked leaves a doubt/,
    'test/activities/reconcile/hiring-stages.test.ts',
  ),
};
