import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment with another e-mail adopted',
  patches: [
    {
      file: 'src/plan/judge-adoption.ts',
      find: `return differs(email) ?`,
      replace: `return differs(email) && differs(flow) ?`,
    },
  ],
  caughtBy: tests(/an enrolment with another e-mail is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
