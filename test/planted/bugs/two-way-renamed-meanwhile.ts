import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'renamed meanwhile',
  patches: [
    {
      file: 'activities/exchange/read-pairs.ts',
      find: 'if (!read.some(hasNews)) return read;',
      replace: 'if (read.length > 0) return read;',
    },
  ],
  caughtBy: strange(/nobody held it|emptied, and nobody|overwritten/),
};
