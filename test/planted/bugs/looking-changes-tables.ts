import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a command that only looks changes the tables',
  patches: [
    {
      file: 'src/store/migrate.ts',
      find:
        "  if (migrate === 'never' || (migrate === 'if-empty' && !isEmpty)) " +
        'throw isEmpty ? storeEmpty() : storeTooOld();\n',
      replace: '',
    },
  ],
  caughtBy: tests(
    /FAIL .*never makes or changes tables for a command that only looks/,
    'test/store/applied-tenants.test.ts',
  ),
};
