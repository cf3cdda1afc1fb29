import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'numbers as doubles',
  patches: [
    {
      file: 'src/hris/read-cell.ts',
      find: '? decimalValue(String(cell).trim()) : undefined',
      replace: '? Number(cell) : undefined',
    },
  ],
  caughtBy: strange(/nobody held it/),
};
