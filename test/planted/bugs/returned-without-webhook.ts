import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'held hire not told of a return',
  patches: [
    {
      file: 'activities/reconcile/reconcile.ts',
      find: '    const isBack = held.has(jobCandidateId) || (',
      replace: "    const isBack = (held.has('') && hire !== undefined) || (",
    },
  ],
  caughtBy: tests(/whose hire asks how it ends is told/, 'test/activities/reconcile/reconcile-job.test.ts'),
};
