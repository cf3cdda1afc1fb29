import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { InvitationRow } from '../../src/store/push-tables.ts';
import type { SendGuard } from '../hire/write-once.ts';

// A rule names an assessment (section 4.6), to which many people are invited by one request, or an assessment flow
// (section 4.7), to which people are assigned one by one; a list shows who is in a flow.

const FLOW = 'flow:';
const REFERENCE = 'hirebridge-invite:';

/** What stands for a rule's flow where an assessment's id stands for an assessment. */
export function targetOf({ assessment = '', flow }: { assessment?: string | undefined; flow?: number | undefined }) {
  return flow === undefined ? assessment : `${FLOW}${flow}`;
}

export function flowOf(target: string): number | undefined {
  return target.startsWith(FLOW) ? Number(target.slice(FLOW.length)) : undefined;
}

/** Whether somebody is in a flow, by their application; undefined where its list does not tell. */
export type InFlow = (jobCandidateId: string) => boolean | undefined;

/** The fields of an entry are not shown (L5, L6): one that cannot be read, or names no application, may be anybody. */
export async function readFlow(partner: PartnerClient, flow: number): Promise<InFlow> {
  const input = { params: { id: flow } };
  const { items, unreadable } = await partner.readAll(contract.assessmentFlows.listCandidates, input);
  const applications = new Set(items.map(({ jobCandidateId }) => shownId(jobCandidateId)));
  const isUnclear = unreadable.length > 0 || applications.has(undefined);
  return (id) => applications.has(id) || (isUnclear ? undefined : false);
}

/** An id in a field that the specification does not show. */
export function shownId(id: unknown): string | undefined {
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined;
}

/** Those of these targets that are flows. */
export async function readFlows(partner: PartnerClient, targets: readonly string[]): Promise<Map<string, InFlow>> {
  const flows = new Map<string, InFlow>();
  for (const target of targets) {
    const flow = flowOf(target);
    if (flow !== undefined) flows.set(target, await readFlow(partner, flow));
  }
  return flows;
}

/** The same for a person whatever application the rule meets, so that a person is recognised by it. */
export function referenceOf({ candidate_id: candidateId }: Pick<InvitationRow, 'candidate_id'>): string {
  return `${REFERENCE}${candidateId}`;
}

/** The person whom a reference names; undefined where it is none of ours. */
export function candidateOfReference(reference: unknown): string | undefined {
  const isOurs = typeof reference === 'string' && reference.startsWith(REFERENCE);
  return isOurs ? reference.slice(REFERENCE.length) : undefined;
}

/** One request, and what its rows are after it: of an assessment, the outcomes of a batch follow. */
export async function askPartner(
  partner: PartnerClient,
  target: string,
  rows: readonly InvitationRow[],
  guard: Pick<SendGuard, 'signal' | 'beforeSend'>,
): Promise<{ state: 'invited' } | { state: 'taken'; batch_id: string }> {
  const idOf = (row: InvitationRow): number => Number(row.job_candidate_id);
  const flow = flowOf(target);
  const [first] = rows;
  if (flow !== undefined && first !== undefined) {
    await partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId: idOf(first) } }, guard);
    return { state: 'invited' };
  }
  const candidates = rows.map((row) => ({ jobCandidateId: idOf(row), externalRef: referenceOf(row) }));
  const input = { params: { assessmentId: target }, body: { candidates } };
  const { data } = await partner.assessments.inviteBulk(input, guard);
  return { state: 'taken', batch_id: data.batchId };
}
