import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'two candidates whom the partner merged stay two people',
  patches: [
    {
      file: 'activities/hire/with-hire.ts',
      find: 'if (before === null || before === candidateId) return;',
      replace: 'if (before === null || before !== null) return;',
    },
  ],
  caughtBy: tests(/FAIL .*known of both, and a transfer moves them/, 'test/activities/hire/merged-candidates.test.ts'),
};
