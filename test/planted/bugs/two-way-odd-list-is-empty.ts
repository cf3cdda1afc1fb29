import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'odd list is empty',
  patches: [
    {
      file: 'src/hris/read-cell.ts',
      find: "if (!Array.isArray(list)) return { wrong: 'NOT_A_LIST' };",
      replace: 'if (!Array.isArray(list)) return { value: null };',
    },
  ],
  caughtBy: strange(/emptied, and nobody|overwritten/),
};
