import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim taken from whoever holds it',
  patches: [
    {
      file: 'src/store/identity.ts',
      find: "    .where('tenant_id', '=', from.tenantId)\n    .where('job_candidate_id', '=', from.jobCandidateId)\n    .where('period', '=', from.period)\n",
      replace: '',
    },
  ],
  caughtBy: tests(/or handed over by whoever has it/, 'test/store/hire-facts.test.ts'),
};
