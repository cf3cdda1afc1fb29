import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deliveries that still wait end with the others',
  patches: [
    {
      file: 'src/store/retention.ts',
      find: ".where('state', '!=', sql.lit('waiting'))",
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*rows of old deliveries end once their bodies are cleared/, 'test/store/retention.test.ts'),
};
