import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'an employee whom a restored store does not know is made again',
  patches: [
    {
      file: 'activities/hire/plan-employee.ts',
      find: '{ ...observed, told: await readToldId(hire) }',
      replace: 'observed',
    },
  ],
  caughtBy: tests(/FAIL .*is asked about and not made again/, 'test/activities/hire/employee-gone.test.ts'),
};
