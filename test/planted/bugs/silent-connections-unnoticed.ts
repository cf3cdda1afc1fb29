import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'what was asked on connections that fell silent is waited for',
  patches: [
    {
      file: 'src/sql/open-database.ts',
      find: '    if (asking || suspects.length === 0) return;',
      replace: '    if (asking || suspects.length >= 0) return;',
    },
  ],
  caughtBy: tests(/FAIL .*what was asked on connections that fell silent ends/, 'test/sql/silent-database.test.ts'),
};
