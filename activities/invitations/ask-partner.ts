import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { isNotShown } from '../../src/partner/client/read-answer.ts';
import { type InviteBatch, InviteOutcome } from '../../src/partner/contract/assessment.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { Pipeline } from '../../src/partner/contract/pipelines.ts';
import { forgetWrites, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import {
  type Invitee,
  readInvitationsOf,
  readMovesOf,
  readSentMoves,
  sendMove,
  settleMove,
} from '../../src/store/invitations.ts';
import { batchesOf, readClock } from '../../src/store/open-store.ts';
import type { InvitationRow, StageMoveRow } from '../../src/store/push-tables.ts';
import { hiringStagesOf, type Tenant } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import { newValues } from '../hire/with-hire.ts';
import { guardFor, type SendGuard, startClock } from '../hire/write-once.ts';
import { fetchJobCandidates } from '../presence/fetch-job-candidates.ts';
import { readPresence } from '../presence/read-presence.ts';
import { assertFew, assertOurs, leftMs, originOf, type PushContext, tell, waitFor } from '../push/push-context.ts';

// A rule names an assessment (section 4.6), to which one request invites many people, or an assessment flow (section
// 4.7), to which people are assigned one by one; a list shows who is in a flow.
const FLOW = 'flow:';
const REFERENCE = 'hirebridge-invite:';

type Settings = NonNullable<Tenant['invitations']>;
type Rule = Settings['rules'][number];

/** A person who is in the stage of a rule. */
export interface Met extends Invitee {
  rule: Rule;
}

interface Due {
  met: Met;
  before: StageMoveRow | undefined;
}

/** The id stored for a rule's target: the assessment's id, or `flow:` with the flow's id. */
export function targetOf({ assessment = '', flow }: { assessment?: string | undefined; flow?: number | undefined }) {
  return flow === undefined ? assessment : `${FLOW}${flow}`;
}

export function flowOf(target: string): number | undefined {
  return target.startsWith(FLOW) ? Number(target.slice(FLOW.length)) : undefined;
}

/** The record of an invitation or move. */
export function nameOf({ jobCandidateId, assessmentId }: Invitee): string {
  return `${jobCandidateId} to ${assessmentId}`;
}

/** Whether a job candidate is in a flow; undefined if the flow's list cannot tell. */
export type InFlow = (jobCandidateId: string) => boolean | undefined;

/**
 * The specification does not show the entries' fields (L5, L6). An entry that is unreadable or names no application may
 * be anybody, and so may one that a list counts and does not show, and everybody in a flow that is not shown.
 */
export async function readFlow(partner: PartnerClient, flow: number): Promise<InFlow> {
  const input = { params: { id: flow } };
  const shown = await ifShown(partner.readAll(contract.assessmentFlows.listCandidates, input));
  if (shown === undefined) return () => undefined;
  const { items, unreadable, unshown = 0 } = shown;
  const applications = new Set(items.map(({ jobCandidateId }) => shownId(jobCandidateId)));
  const isUnclear = unreadable.length > 0 || unshown > 0 || applications.has(undefined);
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

/**
 * Why a refusal concerns everybody whom a rule names, and not the people of the request; undefined if it may concern
 * them.
 */
export async function whyShut(partner: PartnerClient, target: string, { code }: ConnectorError) {
  if (!isNotShown(code)) return undefined;
  if (code !== 'NOT_FOUND') return `the hiring platform does not let the key use it: ${code}`;
  const flow = flowOf(target);
  const shown =
    flow === undefined
      ? await ifShown(partner.assessments.get({ params: { assessmentId: target } }))
      : await ifShown(partner.assessmentFlows.listCandidates({ params: { id: flow } }));
  if (shown !== undefined) return undefined;
  const what = flow === undefined ? 'assessment' : 'flow';
  return `the hiring platform shows no such ${what}: correct the rule in the tenant file, or restore it there`;
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

/** One person's outcome in a batch of invitations; undefined until the partner has handled the entry. */
export function outcomeOf(
  { in_doubt: inDoubt }: InvitationRow,
  { status, reason }: InviteOutcome,
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
  entries: readonly InviteOutcome[],
  asked: readonly InvitationRow[],
): InviteOutcome | undefined {
  const named = entries.find(({ externalRef }) => externalRef === referenceOf(row));
  if (named !== undefined || asked.length === 0) return named;
  const meant = entries.find(({ jobCandidateId: id }) => String(id) === row.job_candidate_id);
  if (meant !== undefined || entries.length !== asked.length) return meant;
  const entry = entries[asked.findIndex(({ candidate_id: id }) => id === row.candidate_id)];
  return (entry?.externalRef ?? entry?.jobCandidateId ?? undefined) === undefined ? entry : undefined;
}

/** The outcomes of a batch, as a list: the optional query of section 4.6 may be about pages. */
const outcomes = {
  ...contract.assessments.getInviteBatch,
  list: { itemsAt: 'data.results', item: InviteOutcome, idKey: 'externalRef', idAlso: 'jobCandidateId' },
};

/** Every outcome of a batch of so many people. */
export async function outcomesOf(
  partner: PartnerClient,
  input: { params: { assessmentId: string; batchId: string } },
  { results, totalCount }: InviteBatch,
  people: number,
): Promise<readonly InviteOutcome[]> {
  const shown = results ?? [];
  if (shown.length >= (totalCount ?? people)) return shown;
  return (await partner.readAll(outcomes, input)).items;
}

/**
 * Moves each person who completed the flow of a rule to the rule's stage (`moveTo`), once: reads them again, commits
 * the intent, sends one request and stores the outcome. Nobody is moved back, into a hiring stage, or a second time:
 * somebody may have moved them elsewhere.
 */
export async function moveOn(run: PushContext & { settings: Settings }, people: readonly Met[]): Promise<void> {
  await settleLeft(run, people);
  const due: Due[] = [];
  const moving = people.filter(({ rule }) => rule.moveTo !== undefined);
  for (const [target, some] of Map.groupBy(moving, (one) => one.assessmentId))
    due.push(...(await findDue(run, target, some)));
  if (due.length === 0) return;
  const fresh = due.filter(({ before }) => before?.state !== 'sent').length;
  const most = run.settings.atOnce;
  const message =
    `${fresh} people would be moved to the next stage in one run, more than ${most} (invitations.atOnce in the ` +
    'tenant file). None of them was moved.';
  await assertFew(run, { fresh, most, code: 'MASS_MOVE', message });
  const { items: pipelines } = await run.connection.partner.readAll(contract.pipelines.list, {});
  for (const one of due) {
    await assertOurs(run);
    await move(run, one, pipelines);
    run.beat();
  }
}

/** Settles moves without an answer of people who left the stage: checks whether they are where they were sent. */
async function settleLeft({ deps, connection, key }: PushContext, people: readonly Met[]): Promise<void> {
  const { rows, now } = await readSentMoves(deps.store, key.tenantId);
  const still = new Set(people.map(({ assessmentId, jobCandidateId }) => `${assessmentId} ${jobCandidateId}`));
  for (const row of rows) {
    if (still.has(`${row.flow} ${row.job_candidate_id}`) || leftMs({ deps }, row, now) > 0) continue;
    const { verdict } = await readPresence(deps.store, connection, row.job_candidate_id, [row.stage_id]);
    if (verdict === 'in') await settleWrites(deps.store, row.write_id ?? '', 'done');
    await settleMove(deps.store, row, { state: verdict === 'in' ? 'done' : 'left' });
  }
}

/** People who are in the flow by our records, have completed it according to its list, and were not moved yet. */
async function findDue(run: PushContext, target: string, people: readonly Met[]): Promise<Due[]> {
  const { deps, key, connection } = run;
  const { store } = deps;
  const candidateIds = people.map(({ candidateId }) => candidateId);
  const invited = await readInvitationsOf(store, key.tenantId, target, candidateIds);
  const ids = people.map(({ jobCandidateId }) => jobCandidateId);
  const moves = await readMovesOf(store, key.tenantId, target, ids);
  const now = await readClock(store);
  const open: Due[] = [];
  for (const met of people) {
    const { state, job_candidate_id: asked } = invited.get(met.candidateId) ?? {};
    const before = moves.get(met.jobCandidateId);
    if (before?.state === 'refused' && !run.full) tell(run, nameOf(met), 'quarantined', refusedAs(before.code));
    if (state !== 'invited' || asked !== met.jobCandidateId) continue;
    if (before !== undefined && !['absent', 'sent', ...(run.full ? ['refused'] : [])].includes(before.state)) continue;
    const waitMs = before?.state === 'sent' ? leftMs({ deps }, before, now) : 0;
    waitFor(run, waitMs);
    if (waitMs <= 0) open.push({ met, before });
  }
  if (open.length === 0) return [];
  const over = await readCompleted(connection.partner, flowOf(target) ?? 0);
  const isDue = ({ met }: Due): boolean => over.has(met.jobCandidateId);
  for (const { met } of over.has(undefined) ? open.filter((one) => !isDue(one)) : [])
    if (run.verdicts.get(nameOf(met))?.kind !== 'created') tell(run, nameOf(met), 'quarantined', UNNAMED);
  return open.filter(isDue);
}

const UNNAMED =
  'the list of the flow does not name the application of everybody who completed it, so nobody knows whether they ' +
  'did: move them by hand';

/**
 * Applications with status COMPLETED. An entry without an application, or one that cannot be read, counts for nobody
 * (L5), and is undefined here. Checks the status because the partner may ignore the filter.
 */
async function readCompleted(partner: PartnerClient, flow: number): Promise<Set<string | undefined>> {
  const input = { params: { id: flow }, query: { status: 'COMPLETED' as const } };
  const shown = await ifShown(partner.readAll(contract.assessmentFlows.listCandidates, input));
  const over = (shown?.items ?? []).filter(({ status }) => String(status).toUpperCase() === 'COMPLETED');
  return new Set([
    ...over.map(({ jobCandidateId }) => shownId(jobCandidateId)),
    ...(shown?.unreadable ?? []).map(() => undefined),
  ]);
}

async function move(run: PushContext, { met, before }: Due, pipelines: readonly Pipeline[]): Promise<void> {
  const { deps, key, connection } = run;
  const { store, limits } = deps;
  const { jobCandidateId, candidateId, assessmentId: flow, rule } = met;
  const sinceRead = startClock();
  const presence = await readPresence(store, connection, jobCandidateId, [rule.on.stage]);
  if (presence.verdict !== 'in') return;
  const pipeline = pipelines.find(({ id }) => String(id) === shownId(presence.job?.['pipelineId']));
  const to = nextStage(connection.tenant, rule, pipeline);
  if ('reason' in to) return tell(run, nameOf(met), 'quarantined', to.reason);
  const clock = startClock();
  const changes = newValues({ stageId: to.stageId, flow });
  const written = { target: 'stage', recordId: jobCandidateId, kind: 'update' as const, changes, sensitive: [] };
  const writeId = await recordWrites(store, originOf(run), [written]);
  const person = { job_candidate_id: jobCandidateId, candidate_id: candidateId };
  const sending = { tenant_id: key.tenantId, flow, ...person, stage_id: to.stageId, write_id: writeId };
  const row = await sendMove(store, sending, { before, budgetMs: limits.giveUpMs });
  if (row === undefined) return forgetWrites(store, writeId);
  try {
    const { signal, beforeSend } = guardFor('move', limits.giveUpMs, clock, sinceRead);
    const input = { params: { jobCandidateId: Number(jobCandidateId) }, body: { stageId: Number(to.stageId) } };
    await connection.partner.jobCandidates.move(input, { signal, beforeSend });
    await settleMove(store, row, { state: 'done' });
    await settleWrites(store, writeId, 'done');
    tell(run, nameOf(met), 'updated');
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    // A move may be sent again, so the client reports a missing answer as worth a retry.
    const isHeard = error.code === 'DEADLINE_PASSED' || !['retry', 'unknown'].includes(error.action);
    if (!isHeard) return waitFor(run, limits.giveUpMs);
    const isRefused = error.action === 'reject';
    await settleWrites(store, writeId, isRefused ? 'refused' : 'absent');
    await settleMove(store, row, { state: isRefused ? 'refused' : 'absent', code: error.code });
    if (!isRefused) throw error;
    tell(run, nameOf(met), 'quarantined', refusedAs(error.code));
  }
}

function refusedAs(code: string | null): string {
  return `the hiring platform refused to move them to the next stage: ${code ?? 'no reason given'}`;
}

/**
 * The rule's stage in the pipeline of the person's job. It must come after every stage that matches the rule's own; the
 * list gives the order.
 */
function nextStage(
  tenant: Tenant,
  { on, moveTo = '' }: Rule,
  pipeline: Pipeline | undefined,
): { stageId: string } | { reason: string } {
  const stages = pipeline?.stages ?? [];
  const isNamed = (stage: (typeof stages)[number], name: string) => stage.type === name || String(stage.id) === name;
  const from = stages.findLastIndex((stage) => isNamed(stage, on.stage));
  const to = stages.find((stage, index) => index > from && isNamed(stage, moveTo));
  if (from < 0 || to === undefined) return { reason: `no stage ${moveTo} comes after ${on.stage} in their pipeline` };
  const hiring = ['HIRED', ...hiringStagesOf(tenant)];
  if (hiring.some((name) => isNamed(to, name)))
    return { reason: `${moveTo} is a hiring stage, and only a person hires` };
  return { stageId: String(to.id) };
}
