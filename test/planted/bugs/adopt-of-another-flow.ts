import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment of another flow adopted',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: 'const isInOther = differs(flow)\n',
      replace: 'const isInOther = differs(flow) && flow.shown === undefined\n',
    },
  ],
  caughtBy: tests(/an enrolment in another flow is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
