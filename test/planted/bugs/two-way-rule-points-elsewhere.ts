import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'rule points elsewhere',
  patches: [
    {
      file: 'activities/exchange/read-pairs.ts',
      find: 'const field = [from.map(partnerField), ...named, def.place ?? def.key, def.type];',
      replace: 'const field = [...named, def.key];',
    },
  ],
  caughtBy: strange(/emptied, and nobody|overwritten/),
};
