import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'rule points elsewhere',
  patches: [
    {
      file: 'activities/exchange/read-pairs.ts',
      find: 'JSON.stringify([partner, connection, def.place ?? def.key, def.type])',
      replace: 'JSON.stringify([connection, def.key])',
    },
  ],
  caughtBy: strange(/emptied, and nobody|overwritten/),
};
