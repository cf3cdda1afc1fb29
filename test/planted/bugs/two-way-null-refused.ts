import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'null refused',
  patches: [
    {
      file: 'activities/exchange/send-values.ts',
      find: 'const deleted = await attempt(() => deleteValue(context, only));',
      replace: 'const deleted = sent;',
    },
  ],
  caughtBy: strange(/is not true/),
};
