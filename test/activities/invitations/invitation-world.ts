import { contract } from '../../../src/partner/contract/index.ts';
import type { StageCandidate } from '../../../src/partner/contract/job-candidates.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { openPushWorld, type PushWorldOptions } from '../push-world.ts';

export interface WorldOptions extends PushWorldOptions {
  atOnce?: number;
}

/** One rule: whoever has applied is invited. */
export async function invitationWorld({ atOnce = 100, ...options }: WorldOptions = {}) {
  let assessmentId = '';
  const world = await openPushWorld('invitations', options, async ({ control }) => {
    const made = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
    assessmentId = made.assessmentId;
    return {
      invitations: { rules: [{ on: { stage: 'APPLIED' }, assessment: assessmentId }], atOnce },
    } as Partial<Tenant>;
  });
  const { sandbox, store } = world;
  return {
    ...world,
    assessmentId,
    async applied(): Promise<StageCandidate[]> {
      const query = { stageType: 'APPLIED' } as const;
      return (await sandbox.partner.readAll(contract.jobCandidates.listByStageType, { query })).items;
    },
    /** How often the partner invited each person to the assessment, by its own ledger, and how often it was asked. */
    async invited() {
      const effects = await sandbox.control.ledger({ kind: 'effect', name: 'invite' });
      const own = effects.filter(({ detail }) => detail['assessmentId'] === assessmentId);
      const { request = {} } = await sandbox.control.counts({ kind: 'request' });
      return { people: own.length, requests: request['assessments.inviteBulk'] ?? 0 };
    },
    async rows() {
      return store.kysely.selectFrom('invitations').selectAll().orderBy('candidate_id').execute();
    },
  };
}
