import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'open hire without a workflow left alone',
  patches: [
    {
      file: 'activities/reconcile/signal-hires.ts',
      find: '  const lost = open.filter((jobCandidateId) => !followed.has(jobCandidateId));',
      replace: "  const lost = open.filter(() => followed.has(''));",
    },
  ],
  caughtBy: tests(/without a workflow is started/, 'test/activities/reconcile/reconcile-job.test.ts'),
};
