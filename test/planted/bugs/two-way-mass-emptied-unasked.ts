import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'mass emptied unasked',
  patches: [
    {
      file: 'src/exchange/pair-limits.ts',
      find: "    few: 10,\n    share: 0.05,\n    code: 'MASS_EMPTIED',",
      replace: "    few: 1_000,\n    share: 0.05,\n    code: 'MASS_EMPTIED',",
    },
  ],
  caughtBy: strange(/records are emptied and nobody was asked/, 11, 30),
};
