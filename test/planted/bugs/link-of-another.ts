import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'named employee of another person linked',
  patches: [
    {
      file: 'src/plan/plan-employee.ts',
      find: 'return planLink(observed, observed.named, decisions);',
      replace: "return { kind: 'link', employee: observed.named };",
    },
  ],
  caughtBy: tests(/a person named an employee who is linked to somebody else/, 'test/plan/plan-employee.test.ts'),
};
