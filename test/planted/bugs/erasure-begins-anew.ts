import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'who goes on with an erasure forgets what was found before',
  patches: [
    {
      file: 'activities/erase/carry-out.ts',
      find: '  await noteFound(store, row, await findPersonRows(store, subject));\n',
      replace: "  row.found = '{}';\n  await noteFound(store, row, await findPersonRows(store, subject));\n",
    },
  ],
  caughtBy: tests(/its receipt: /, 'test/person/erase-killed.test.ts'),
};
