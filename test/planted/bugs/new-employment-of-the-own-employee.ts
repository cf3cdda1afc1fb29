import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a new employment gives a hire the employee that another hire took over from it',
  patches: [
    {
      file: 'src/plan/plan-employee.ts',
      find: "return person === 'new-employment' && own",
      replace: "return person === 'new-employment' && own === undefined && own",
    },
  ],
  caughtBy: tests(
    /FAIL .*gets a second employee where a person says that it is a new employment/,
    'test/activities/hire/taken-over.test.ts',
  ),
};
