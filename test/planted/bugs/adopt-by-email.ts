import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'adopt by e-mail',
  patches: [
    {
      file: 'activities/hire/enrol.ts',
      find: '  const judged = judgeDuplicate(ref, await findEnrolments(connection, attempt.reference));\n',
      replace: `  const { contract } = await import('../../src/partner/contract/index.ts');
  const presence = await readPresence(deps.store, connection, ref.jobCandidateId, hiringStagesOf(connection.tenant));
  const email = presence.verdict === 'missing' ? '' : presence.jobCandidate.candidate_details?.email;
  const { items } = await connection.partner.readAll(contract.onboarding.listCandidates, {}, { priority: 'live' });
  const hits = items.filter((item) => item.email === email).map(enrolmentOf).slice(0, 1);
  const judged = judgeDuplicate(ref, hits);
`,
    },
  ],
  caughtBy: simulation(/made by hand, was taken without asking/),
};
