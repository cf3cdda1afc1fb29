import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'write-back not verified',
  patches: [
    {
      file: 'activities/hire/finish-hire.ts',
      find: 'if (missing.length > 0)',
      replace: 'if (missing.length < 0)',
    },
  ],
  caughtBy: simulation(/is not shown to the partner/),
};
