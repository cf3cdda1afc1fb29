import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'give-up-at not checked',
  patches: [
    {
      file: 'activities/hire/write-once.ts',
      find: 'if (remainingMs() > 0) return',
      replace: 'if (giveUpMs > 0) return',
    },
  ],
  caughtBy: simulation(/I[23] /, 1_500),
};
