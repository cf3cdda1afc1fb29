import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'look-up of a stage without its two seconds',
  patches: [
    {
      file: 'activities/reconcile/hiring-stages.ts',
      find: 'return within(Math.max(0, beganAt + PATIENCE_MS - performance.now()), types);',
      replace: 'return within(Math.max(0, beganAt + 60 * PATIENCE_MS - performance.now()), types);',
    },
  ],
  caughtBy: tests(
    /FAIL .*a partner that is silent is waited for two seconds/,
    'test/activities/reconcile/hiring-stages.test.ts',
  ),
};
