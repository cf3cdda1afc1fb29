import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'wrong storage form',
  patches: [
    {
      file: 'src/exchange/see-fields.ts',
      find: 'const encoded = encodeValue(definition, value);',
      replace: 'const encoded = encodeValue({ type: "" }, Array.isArray(value) ? JSON.stringify(value) : value);',
    },
  ],
  caughtBy: convergence(/shifts of .* differ/),
};
