import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a store that a newer version brought up to date is not recognised',
  patches: [
    {
      file: 'src/store/migrate.ts',
      find: '  if (unknown.length > 0) throw storeTooNew(unknown);\n',
      replace: '',
    },
  ],
  caughtBy: tests(
    /FAIL .*that a newer version brought up to date is refused in one line/,
    'test/store/applied-tenants.test.ts',
  ),
};
