import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deletion from one pass',
  patches: [
    {
      file: 'activities/exchange/exchange-page.ts',
      find: 'const isGone = state.missing_side === side;',
      replace: 'const isGone = true;',
    },
  ],
  caughtBy: convergence(/counts as gone/),
};
