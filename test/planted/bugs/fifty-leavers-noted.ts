import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'only fifty leavers of a job noted',
  patches: [
    {
      file: 'activities/reconcile/reconcile-job.ts',
      find: 'absentFrom(resting, job.jobId, present).map(',
      replace: 'absentFrom(resting, job.jobId, present).slice(0, 50).map(',
    },
  ],
  caughtBy: tests(/sixty people who leave together are all noted/, 'test/activities/reconcile/baseline.test.ts'),
};
