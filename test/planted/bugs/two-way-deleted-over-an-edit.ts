import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deleted over an edit',
  patches: [
    {
      file: 'activities/exchange/send-values.ts',
      find: '  if (!isOver(own))\n',
      replace: '  if (own.id === "")\n',
    },
  ],
  caughtBy: strange(/overwritten/, 1, 300),
};
