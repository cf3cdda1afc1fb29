import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment of another hire adopted',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: 'const misfit = otherHire === undefined ?',
      replace: 'const misfit = otherHire !== "" ?',
    },
  ],
  caughtBy: tests(/an enrolment of another hire is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
