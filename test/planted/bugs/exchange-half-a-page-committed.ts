import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'half a page committed',
  patches: [
    {
      file: 'activities/exchange/write-pairs.ts',
      find: 'if (unknown !== undefined) return;',
      replace: 'if (unknown === null) return;',
    },
  ],
  caughtBy: convergence(/no last edit|differ/),
};
