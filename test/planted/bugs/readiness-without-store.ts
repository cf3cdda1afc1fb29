import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'readiness never asks the store',
  patches: [
    {
      file: 'src/store/open-store.ts',
      find: '  return (await within(ANSWERS_MS, asked)) === true;',
      replace: '  return (await within(ANSWERS_MS, asked)) !== false;',
    },
  ],
  caughtBy: tests(
    /FAIL .*a store whose database fell silent is not ready within a second/,
    'test/sql/silent-database.test.ts',
  ),
};
