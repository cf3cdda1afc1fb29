import { isConnectorError } from '../../src/errors.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { isNotShown } from '../../src/partner/client/read-answer.ts';
import type { InviteBatch } from '../../src/partner/contract/assessment.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { batchesOf } from '../../src/store/open-store.ts';
import type { InvitationRow } from '../../src/store/push-tables.ts';
import type { Connection } from '../connections.ts';
import type { SendGuard } from '../hire/write-once.ts';
import { fetchJobCandidates } from '../presence/fetch-job-candidates.ts';

// A rule names an assessment (section 4.6), to which one request invites many people, or an assessment flow (section
// 4.7), to which people are assigned one by one; a list shows who is in a flow.

const FLOW = 'flow:';
const REFERENCE = 'hirebridge-invite:';

/** The id stored for a rule's target: the assessment's id, or `flow:` with the flow's id. */
export function targetOf({ assessment = '', flow }: { assessment?: string | undefined; flow?: number | undefined }) {
  return flow === undefined ? assessment : `${FLOW}${flow}`;
}

export function flowOf(target: string): number | undefined {
  return target.startsWith(FLOW) ? Number(target.slice(FLOW.length)) : undefined;
}

/** Whether a job candidate is in a flow; undefined if the flow's list cannot tell. */
export type InFlow = (jobCandidateId: string) => boolean | undefined;

/**
 * The specification does not show the entries' fields (L5, L6). An entry that is unreadable or names no application may
 * be anybody, and so may everybody in a flow that is not shown.
 */
export async function readFlow(partner: PartnerClient, flow: number): Promise<InFlow> {
  const input = { params: { id: flow } };
  const shown = await ifShown(partner.readAll(contract.assessmentFlows.listCandidates, input));
  if (shown === undefined) return () => undefined;
  const { items, unreadable } = shown;
  const applications = new Set(items.map(({ jobCandidateId }) => shownId(jobCandidateId)));
  const isUnclear = unreadable.length > 0 || applications.has(undefined);
  return (id) => applications.has(id) || (isUnclear ? undefined : false);
}

/** What the partner answers about an assessment or flow that a rule names; undefined if it shows none of that id. */
export async function ifShown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isConnectorError(error) && isNotShown(error.code)) return undefined;
    throw error;
  }
}

export async function isAssessment(partner: PartnerClient, assessmentId: string): Promise<boolean> {
  return (await ifShown(partner.assessments.get({ params: { assessmentId } }))) !== undefined;
}

/** An id from a field that the specification does not show. */
export function shownId(id: unknown): string | undefined {
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined;
}

/** Reads those targets that are flows. */
export async function readFlows(partner: PartnerClient, targets: readonly string[]): Promise<Map<string, InFlow>> {
  const flows = new Map<string, InFlow>();
  for (const target of targets) {
    const flow = flowOf(target);
    if (flow !== undefined) flows.set(target, await readFlow(partner, flow));
  }
  return flows;
}

/** Each job's lists cost calls, and an activity that waits for many permits at once is sent back. */
const MOST_JOBS = 4;
const MOST_IDS = 100;

/** Looks at applications, those of a few jobs at a time. */
export async function lookAll(
  connection: Pick<Connection, 'partner'>,
  ids: readonly string[],
  look: (id: string) => Promise<void>,
): Promise<void> {
  const jobs = new Map<string, string>();
  for (const some of batchesOf(ids, MOST_IDS))
    for (const [n, { jobCandidate }] of (await fetchJobCandidates(connection, some, 'bulk')).entries())
      jobs.set(some[n] ?? '', String(jobCandidate?.jobId));
  const byJob = Map.groupBy(ids, (id) => jobs.get(id));
  for (const some of batchesOf([...byJob.values()], MOST_JOBS)) await Promise.all(some.flat().map(look));
}

/** The reference names the person, not the application, so that a person is recognised under any application. */
export function referenceOf({ candidate_id: candidateId }: Pick<InvitationRow, 'candidate_id'>): string {
  return `${REFERENCE}${candidateId}`;
}

/** The person that a reference names; undefined if it is not ours. */
export function candidateOfReference(reference: unknown): string | undefined {
  const isOurs = typeof reference === 'string' && reference.startsWith(REFERENCE);
  return isOurs ? reference.slice(REFERENCE.length) : undefined;
}

/** Sends one request and returns the state of its rows: for an assessment, a batch reports the outcomes later. */
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

/** One person's outcome in a batch of invitations. */
type Entry = NonNullable<InviteBatch['results']>[number];

/** Undefined until the partner has handled the entry. */
export function outcomeOf(
  { in_doubt: inDoubt }: InvitationRow,
  { status, reason }: Entry,
): { state: 'invited' | 'refused'; code: string | null } | undefined {
  const told = String(status).toLowerCase();
  if (told === 'invited') return { state: 'invited', code: null };
  // If we had never asked before, somebody else invited the person. They are invited once all the same.
  if (told === 'skipped') return { state: 'invited', code: inDoubt === 1 ? null : 'ALREADY_INVITED' };
  return told === 'failed' ? { state: 'refused', code: typeof reason === 'string' ? reason : 'FAILED' } : undefined;
}

/**
 * Finds the entry by our reference. In a batch of our own (`asked`) also by the application or, if entries carry
 * neither, by position: outcomes come in request order (section 4.6).
 */
export function entryOf(
  row: InvitationRow,
  entries: readonly Entry[],
  asked: readonly InvitationRow[],
): Entry | undefined {
  const named = entries.find(({ externalRef }) => externalRef === referenceOf(row));
  if (named !== undefined || asked.length === 0) return named;
  const meant = entries.find(({ jobCandidateId: id }) => String(id) === row.job_candidate_id);
  if (meant !== undefined || entries.length !== asked.length) return meant;
  const entry = entries[asked.findIndex(({ candidate_id: id }) => id === row.candidate_id)];
  return (entry?.externalRef ?? entry?.jobCandidateId ?? undefined) === undefined ? entry : undefined;
}
