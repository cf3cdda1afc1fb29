import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'employee of a former HR system written to in the present one',
  patches: [
    {
      file: 'activities/own-hris.ts',
      find: '    if (elsewhere === connection) return id;\n',
      replace: '    if (id !== connection) return id;\n',
    },
  ],
  caughtBy: tests(/FAIL .*an employee of another HR system is refused/, 'test/hire/employee.test.ts'),
};
