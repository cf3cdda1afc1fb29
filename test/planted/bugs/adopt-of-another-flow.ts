import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment of another flow adopted',
  patches: [
    {
      file: 'src/plan/judge-adoption.ts',
      find: '  if (differs(flow)) return',
      replace: '  if (differs(flow) && differs(email)) return',
    },
  ],
  caughtBy: tests(/an enrolment in another flow is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
