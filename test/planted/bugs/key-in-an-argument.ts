import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a key is taken as an argument',
  patches: [
    {
      file: 'src/cli/init.ts',
      find: '  if (flag === undefined) return;',
      replace: '  if (flag === undefined || !isKey) return;',
    },
  ],
  caughtBy: tests(/FAIL .*is not taken as an argument/, 'test/cli/init.test.ts'),
};
