import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hires whose workflow was lost are started again in silence',
  patches: [
    {
      file: 'activities/reconcile/signal-hires.ts',
      find: "  await noteTrouble(store, { ...key, reason: 'WORKFLOW_LOST', message }, 0);\n",
      replace: '',
    },
  ],
  caughtBy: tests(
    /FAIL .*an open hire without a workflow is started by the next reconcile, and said so/,
    'test/activities/reconcile/reconcile-job.test.ts',
  ),
};
