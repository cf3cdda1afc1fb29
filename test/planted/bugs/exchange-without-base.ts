import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'no base',
  patches: [
    {
      file: 'src/exchange/plan-pair.ts',
      find: 'const base = known.bases[field.target];',
      replace: 'const base: string | undefined = undefined;',
    },
  ],
  caughtBy: convergence(/no last edit|differ/),
};
