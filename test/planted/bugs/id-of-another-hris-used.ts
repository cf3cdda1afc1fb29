import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'employee of a former HR system written to in the present one',
  patches: [
    {
      file: 'activities/own-hris.ts',
      find: '    if (employee.connection === connection) return employee.id;\n',
      replace: '    if (employee.id !== connection) return employee.id;\n',
    },
  ],
  caughtBy: tests(/FAIL .*an employee of another HR system is refused/, 'test/hire/employee.test.ts'),
};
