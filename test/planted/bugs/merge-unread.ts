import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'an application that the partner shows as another candidate is not taken for a merge',
  patches: [
    {
      file: 'activities/hire/with-hire.ts',
      find: 'if (before === null || before === candidateId) return;',
      replace: 'if (before !== undefined) return;',
    },
  ],
  caughtBy: simulation(/does not end by answers/, 80, '--with', 'merged-candidates'),
};
