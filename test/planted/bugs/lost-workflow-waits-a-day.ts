import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hires without a workflow are looked for once a day',
  patches: [
    {
      file: 'activities/reconcile/run.ts',
      find: "  changed: ['people', 'absent', 'mark', 'proof', 'leavers', 'onboardings', 'unfollowed'],",
      replace: "  changed: ['people', 'absent', 'mark', 'proof', 'leavers', 'onboardings'],",
    },
  ],
  caughtBy: tests(
    /FAIL .*an open hire without a workflow is started by the next reconcile/,
    'test/activities/reconcile/reconcile-job.test.ts',
  ),
};
