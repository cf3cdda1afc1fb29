import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'invited once for each application',
  patches: [
    {
      file: 'activities/invitations/push-invitations.ts',
      find: 'Map.groupBy(some, ({ candidateId }) => candidateId);',
      replace: 'Map.groupBy(some, ({ jobCandidateId }) => jobCandidateId);',
    },
    {
      file: 'src/store/invitations.ts',
      find: 'const key = { tenant_id: tenantId, assessment_id: assessmentId, candidate_id: candidateId };',
      replace:
        'const key = { tenant_id: tenantId, assessment_id: assessmentId, candidate_id: `${candidateId}/${jobCandidateId}` };',
    },
  ],
  caughtBy: tests(
    /a person with two applications in the stage is one person/,
    'test/activities/invitations/push-invitations.test.ts',
  ),
};
