import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment of another flow adopted',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: 'return differs(flow) ?',
      replace: 'return differs(flow) && flow.shown === undefined ?',
    },
  ],
  caughtBy: tests(/an enrolment in another flow is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
