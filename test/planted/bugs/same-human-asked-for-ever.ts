import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'same human under another candidate asked for ever',
  patches: [
    {
      file: 'src/plan/plan-employee.ts',
      find: 'if (samePerson === employee.id || made',
      replace: 'if ((samePerson !== undefined && link === undefined) || made',
    },
  ],
  caughtBy: tests(/EMPLOYEE_OF_ANOTHER answered same-person/, 'test/hire/walk-holds.test.ts'),
};
