import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'employee who was made days later taken for gone',
  patches: [
    {
      file: 'src/plan/plan-write-back.ts',
      find: 'Math.max(decidedAt ?? now, linkedAt)',
      replace: '(decidedAt ?? now)',
    },
  ],
  caughtBy: tests(/as long as the HR system may show them late/, 'test/activities/hire/pending-hire.test.ts'),
};
