import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'departure whose question is open over once its days have passed',
  patches: [
    {
      file: 'src/plan/plan-cancel.ts',
      find: '  if (daysSince > noShowDays && !asked) ',
      replace: '  if (daysSince > noShowDays) ',
    },
  ],
  caughtBy: tests(/what was asked before the first day stays asked/, 'test/activities/hire/departure.test.ts'),
};
