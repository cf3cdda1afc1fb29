import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a result that the field shows already is written again',
  patches: [
    {
      file: 'activities/results/push-results.ts',
      find: 'const missing = missingTargets(wanted, shown);',
      replace: 'const missing = missingTargets(wanted, new Map());',
    },
  ],
  caughtBy: tests(/a second pass writes nothing/, 'test/activities/results/push-results.test.ts'),
};
