import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'when over is empty',
  patches: [
    {
      file: 'src/exchange/see-fields.ts',
      find: '    .filter((field) => applies(field, sources) !== false)\n',
      replace: '',
    },
  ],
  caughtBy: strange(/nobody held it|emptied, and nobody|overwritten/),
};
