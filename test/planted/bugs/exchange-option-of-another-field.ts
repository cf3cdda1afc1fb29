import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'option by label of the wrong field',
  patches: [
    {
      file: 'src/exchange/see-fields.ts',
      find: 'defined.filter((one) => one.entity === entity)',
      replace: 'defined.filter((one) => one.entity !== "")',
    },
  ],
  caughtBy: convergence(/level of .* (differ|no last edit)/),
};
