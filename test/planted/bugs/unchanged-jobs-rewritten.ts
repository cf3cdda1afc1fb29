import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a reconcile writes jobs that did not change',
  patches: [
    {
      file: 'activities/reconcile/refresh-jobs.ts',
      find: '    return !isProof ||',
      replace: '    return true || !isProof ||',
    },
  ],
  caughtBy: tests(
    /FAIL .*finds nothing moved reads the jobs list once and writes no record/,
    'test/activities/reconcile/resume.test.ts',
  ),
};
