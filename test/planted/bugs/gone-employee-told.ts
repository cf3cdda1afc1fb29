import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'partner told of an employee who is gone',
  patches: [
    {
      file: 'activities/hire/finish-hire.ts',
      find: '  const employed = await readEmployed(hire);',
      replace: "  const employed = hire.row.employee_id === '' ? await readEmployed(hire) : { hire };",
    },
  ],
  caughtBy: tests(/merged into another record/, 'test/activities/hire/employee-gone.test.ts'),
};
