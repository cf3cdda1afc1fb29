import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'answer without the person who gave it',
  patches: [
    {
      file: 'src/store/holds.ts',
      find: `answered_by: given.by,`,
      replace: `answered_by: given.by.slice(0, 0),`,
    },
  ],
  caughtBy: tests(
    /FAIL .*an open hold is not opened twice, and its first answer stands/,
    'test/store/hire-facts.test.ts',
  ),
};
