import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a statement may wait for ever',
  patches: [
    {
      file: 'src/sql/open-database.ts',
      find: '  statement_timeout: 15_000,',
      replace: '  statement_timeout: 0,',
    },
  ],
  caughtBy: tests(/FAIL .*the server bounds .* by itself/, 'test/sql/silent-database.test.ts'),
};
