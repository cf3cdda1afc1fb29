import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'first meeting unasked',
  patches: [
    {
      file: 'src/exchange/pair-limits.ts',
      find: "    few: 20,\n    share: 0.05,\n    code: 'FIRST_MEETING',",
      replace: "    few: 1_000,\n    share: 0.05,\n    code: 'FIRST_MEETING',",
    },
  ],
  caughtBy: strange(/records are filled and nobody was asked/, 1, 10),
};
