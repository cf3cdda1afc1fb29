import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'leavers beyond fifty forgotten',
  patches: [
    {
      file: 'activities/reconcile/reconcile-job.ts',
      find: 'absentFrom(resting, job.jobId, present).map',
      replace: 'absentFrom(resting, job.jobId, present).slice(0, 50).map',
    },
  ],
  caughtBy: tests(/FAIL .*sixty people who leave together/, 'test/activities/reconcile/baseline.test.ts'),
};
