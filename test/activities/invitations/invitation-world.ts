import { contract } from '../../../src/partner/contract/index.ts';
import type { StageCandidate } from '../../../src/partner/contract/job-candidates.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { openPushWorld, type PushWorldOptions } from '../push-world.ts';

export interface WorldOptions extends PushWorldOptions {
  atOnce?: number;
  /** The rule names a flow of the assessment instead of the assessment. */
  inFlow?: boolean;
  /** Where the rule moves whoever completes the flow. */
  moveTo?: string;
  /** Rules of the same stage that come first. */
  before?: readonly { assessment?: string; flow?: number; moveTo?: string }[];
}

/** One rule: whoever has applied is invited. */
export async function invitationWorld({
  atOnce = 100,
  inFlow = false,
  moveTo,
  before = [],
  ...options
}: WorldOptions = {}) {
  let assessmentId = '';
  let flow = 0;
  const world = await openPushWorld('invitations', options, async ({ control, partner }) => {
    const made = (await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string };
    assessmentId = made.assessmentId;
    const body = { flowName: 'Flow', steps: [{ assessmentId, passThreshold: 50 }] };
    if (inFlow) flow = Number((await partner.assessmentFlows.create({ body })).data.id);
    const toFlow = { flow, ...(moveTo === undefined ? {} : { moveTo }) };
    const rule = { on: { stage: 'APPLIED' }, ...(inFlow ? toFlow : { assessment: assessmentId }) };
    const others = before.map((other) => ({ on: { stage: 'APPLIED' }, ...other }));
    return { invitations: { rules: [...others, rule], atOnce } } as Partial<Tenant>;
  });
  const { sandbox, store } = world;
  return {
    ...world,
    assessmentId,
    flow,
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
    /** How often the partner assigned somebody to the flow, by its own ledger, and how often it was asked. */
    async assigned() {
      const effects = await sandbox.control.ledger({ kind: 'effect', name: 'flow-assignment' });
      const { request = {} } = await sandbox.control.counts({ kind: 'request' });
      return { people: effects.length, requests: request['assessmentFlows.assign'] ?? 0 };
    },
    async rows() {
      return store.kysely.selectFrom('invitations').selectAll().orderBy('candidate_id').execute();
    },
  };
}
