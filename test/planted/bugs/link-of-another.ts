import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'named employee of another person linked',
  patches: [
    {
      file: 'src/plan/plan-employee.ts',
      find: 'planTransfer(observed, planLink(observed, named, decisions), decisions)',
      replace: "planTransfer(observed, { kind: 'link', employee: named }, decisions)",
    },
  ],
  caughtBy: tests(/a person named an employee who is linked to somebody else/, 'test/plan/plan-employee.test.ts'),
};
