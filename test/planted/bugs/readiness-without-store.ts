import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'readiness never asks the store',
  patches: [
    {
      file: 'src/store/open-store.ts',
      find: "  if (said === undefined) return 'the database does not answer within a second';\n",
      replace: '  if (said === undefined) return undefined;\n',
    },
  ],
  caughtBy: tests(
    /FAIL .*a store whose database fell silent is not ready within a second/,
    'test/sql/silent-database.test.ts',
  ),
};
