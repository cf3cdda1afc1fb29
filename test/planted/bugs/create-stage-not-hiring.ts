import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'create stage not a hiring stage',
  patches: [
    {
      file: 'src/tenants/schema.ts',
      find: '[...policies.enrolAt, ...policies.createAt]',
      replace: 'policies.enrolAt',
    },
  ],
  caughtBy: tests(/FAIL .*somebody moved straight to the stage/, 'test/activities/reconcile/reconcile-job.test.ts'),
};
