import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'owner ignored',
  patches: [
    {
      file: 'src/exchange/see-fields.ts',
      find: "if (flow.owner !== 'either') return",
      replace: "if (flow.owner === 'never') return",
    },
  ],
  caughtBy: convergence(/no last edit|differ/),
};
