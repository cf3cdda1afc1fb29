import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'address taken for good',
  patches: [
    {
      file: 'src/exchange/plan-pair.ts',
      find: "forms[to] === null && !TAKEN.includes(open.code ?? '')",
      replace: 'forms[to] === null',
    },
  ],
  caughtBy: strange(/(DUPLICATE_VALUE|EMAIL_CONFLICT) is not true/, 1, 15),
};
