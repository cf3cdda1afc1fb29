import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'nobody looks whether a held person came back',
  patches: [
    {
      file: 'activities/hire/cancel-hire.ts',
      find: '!plan.mayBeBack || !(await isBack(hire))) return',
      replace: '!plan.mayBeBack || !(await isBack(hire)) || true) return',
    },
  ],
  caughtBy: tests(
    /FAIL .*whoever comes back while the end of their hire is asked about goes on/,
    'test/activities/hire/strangers.test.ts',
  ),
};
