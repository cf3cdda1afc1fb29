import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrolment with another e-mail adopted',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: 'if (adoption.emailConfirmed || !differs(adoption.email))',
      replace: 'if (adoption.emailConfirmed || !differs(adoption.flow))',
    },
  ],
  caughtBy: tests(/an enrolment with another e-mail is asked about again/, 'test/plan/judge-adoption.test.ts'),
};
