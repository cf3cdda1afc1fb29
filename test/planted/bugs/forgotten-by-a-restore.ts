import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire that only its workflow knows ends as if it had never been',
  patches: [{ file: 'activities/hire/open-hire.ts', find: 'behind === period', replace: 'behind < 0' }],
  caughtBy: tests(
    /goes on where its person left the stage, so that its end looks in the HR system/,
    'test/activities/reconcile/restored.test.ts',
  ),
};
