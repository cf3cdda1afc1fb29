import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'commit in a message of its own',
  patches: [
    {
      file: 'src/hris/sql/open-database.ts',
      find: '{ text: withLiterals(query), query_timeout',
      replace: '{ text: query.sql, values: [...query.parameters], query_timeout',
    },
  ],
  caughtBy: tests(/FAIL.*its last five bytes late/, 'test/hris/sql-postgres-faults.test.ts'),
};
