import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: "a create that was answered with another person's employee asks the same question for ever",
  patches: [
    {
      file: 'activities/hire/pending-create.ts',
      find: "const isDenied = asked.answer === 'create' || asked.answer === 'cancel';",
      replace: 'const isDenied = false;',
    },
  ],
  caughtBy: tests(/FAIL .*gets another one made/, 'test/activities/hire/existing-employee.test.ts'),
};
