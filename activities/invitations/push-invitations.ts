import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import { holdOf } from '../../src/hire/holds.ts';
import { isRefusedOfRecord } from '../../src/partner/client/read-answer.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { recordWrites, settleSomeWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { clearHints, type Hint } from '../../src/store/hints.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import {
  type Invitee,
  readInvitationsBatch,
  readInvitationsOf,
  readOpenInvitations,
  sendInvitations,
  settleInvitations,
  withoutErased,
} from '../../src/store/invitations.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { InvitationRow } from '../../src/store/push-tables.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { WHOLE_LIST } from '../../src/streams/stream.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { isInScope } from '../hire/read-sources.ts';
import { newValues } from '../hire/with-hire.ts';
import { type Elapsed, guardFor, startClock } from '../hire/write-once.ts';
import { isRejected, listStage } from '../presence/fetch-job-candidates.ts';
import { readPresence } from '../presence/read-presence.ts';
import {
  assertAnswered,
  assertFew,
  assertOurs,
  creditsOf,
  isHeldBack,
  leftMs,
  originOf,
  type PushContext,
  sendOnce,
  tell,
  type Verdict,
} from '../push/push-context.ts';
import { readShownHints } from '../streams/reading.ts';
import {
  askPartner,
  entryOf,
  flowOf,
  type InFlow,
  ifShown,
  lookAll,
  type Met,
  moveOn,
  nameOf,
  outcomeOf,
  outcomesOf,
  readFlow,
  readFlows,
  referenceOf,
  targetOf,
  whyShut,
} from './ask-partner.ts';

/**
 * Invites the people named by the tenant's rules, once per person and assessment: commits the intent, sends one request
 * and stores the outcome. If no answer came, nothing is sent again until the request's deadline has passed and batches
 * and interviews were searched for our reference. No list shows an invitation that nobody has taken up yet (section
 * 4.6), so an invitation that is not found is sent again: the partner skips a person who is invited already, and we
 * count that as ours.
 */
export async function pushInvitations(context: PushContext): Promise<boolean> {
  const { deps, connection, key, verdicts, beat } = context;
  const settings = connection.tenant.invitations;
  if (settings === undefined)
    throw rejected(
      'INVITATIONS_UNCONFIGURED',
      `Nobody can be invited for ${key.tenantId}: the tenant file has no section invitations. ` +
        'Add "invitations: { rules: [{ on: { stage: ASSESSMENT }, assessment: ID }] }" and apply it.',
    );
  const hints = await readShownHints(context);
  const { waitMs, searched } = await settleOpen(context, hints);
  beat();
  const isWhole = !context.hinted || hints.some(({ recordId }) => recordId === WHOLE_LIST);
  const looked = isWhole ? undefined : hints;
  const { people, unread, sinceRead } = await findPeople(context, settings, looked);
  beat();
  for (const one of unread) verdicts.set(one.id, one);
  const run = { ...context, settings, looked, sinceRead, searched, waitMs, isOutOfCredits: false };
  await inviteAll(run, people);
  if (isWhole) await moveOn(run, people);
  if (isWhole && searched.size > 0) await letGo(run, people);
  assertAnswered(run, 'A request');
  await clearHints(deps.store, key.tenantId, key.stream, hints);
  // People who wait for credits still need what a person allowed.
  if (isWhole && !isHeldBack(run)) await forgetAllowed(deps.store, key);
  await tellRefused(run);
  return isWhole;
}

type Settings = NonNullable<Tenant['invitations']>;

interface InviteRun extends PushContext {
  settings: Settings;
  /** The hints whose people this run looks at; undefined means everybody in the stages. */
  looked: readonly Hint[] | undefined;
  /** Time since this run read who is in the stages. */
  sinceRead: Elapsed;
  /** Attempts without an answer that were searched for after their deadline. */
  searched: ReadonlySet<string>;
  isOutOfCredits: boolean;
}

// Outcomes of earlier requests.

interface Settled {
  /** How long to wait for a request without an answer; 0 if there is none. */
  waitMs: number;
  searched: Set<string>;
}

async function settleOpen(context: PushContext, hints: readonly Hint[]): Promise<Settled> {
  const { deps, key } = context;
  const before = await readOpenInvitations(deps.store, key.tenantId);
  const taken = before.rows.filter(({ state }) => state === 'taken');
  for (const [batchId, rows] of Map.groupBy(taken, (row) => row.batch_id ?? '')) await askBatch(context, batchId, rows);
  const searched = new Set<string>();
  const doubted = before.rows.filter(({ state }) => state === 'sent');
  for (const [assessmentId, rows] of Map.groupBy(doubted, (row) => row.assessment_id)) {
    const flow = flowOf(assessmentId);
    // A batch whose id is an integer cannot be told from an application in an event.
    for (const { recordId } of flow === undefined ? hints : [])
      if (recordId !== WHOLE_LIST && !isApplication(recordId)) await askBatch(context, recordId, rows, true);
    const due = rows.filter((row) => leftMs(context, row, before.now) <= 0);
    if (due.length > 0 && flow === undefined) await searchInterviews(context, assessmentId, due);
    if (due.length > 0 && flow !== undefined) await searchFlow(context, flow, due);
    for (const row of due) searched.add(attemptOf(row));
  }
  const after = await readOpenInvitations(deps.store, key.tenantId);
  const waiting = after.rows.filter((row) => row.state === 'sent' && !searched.has(attemptOf(row)));
  return { waitMs: Math.max(0, ...waiting.map((row) => Math.max(1, leftMs(context, row, after.now)))), searched };
}

function attemptOf({ assessment_id: assessmentId, candidate_id: candidateId, attempt }: InvitationRow): string {
  return `${assessmentId} ${candidateId} ${attempt}`;
}

/** Application ids are integers (section 2.4). */
function isApplication(recordId: string): boolean {
  return /^\d+$/.test(recordId);
}

/**
 * Stores a batch's results for some rows of one assessment. `isGuess`: only the entries can tell whether the batch
 * holds these rows.
 */
async function askBatch(
  context: PushContext,
  batchId: string,
  rows: readonly InvitationRow[],
  isGuess = false,
): Promise<void> {
  const { deps, connection, key } = context;
  const [{ assessment_id: assessmentId } = { assessment_id: '' }] = rows;
  const { partner } = connection;
  const input = { params: { assessmentId, batchId } };
  const batch = (await ifShown(partner.assessments.getInviteBatch(input)))?.data;
  if (batch === undefined) {
    if (!isGuess) await settleInvitations(deps.store, rows, { state: 'sent', in_doubt: 1 });
    return;
  }
  const asked = isGuess ? [] : inOrder(await readInvitationsBatch(deps.store, key.tenantId, batchId));
  const entries = await outcomesOf(partner, input, batch, asked.length);
  const isOver = !isGuess && String(batch.status).toLowerCase() === 'completed';
  for (const row of rows) {
    const entry = entryOf(row, entries, asked);
    const told = entry === undefined ? undefined : outcomeOf(row, entry);
    const change = told ?? (isOver ? { state: 'refused' as const, code: NO_OUTCOME, in_doubt: 1 } : undefined);
    if (change === undefined) continue;
    await settleInvitations(deps.store, [row], change);
    const { write_id: writeId, job_candidate_id: recordId } = row;
    const outcome = told === undefined ? 'open' : told.state === 'invited' ? 'done' : 'refused';
    await settleSomeWrites(deps.store, writeId ?? '', [recordId], outcome);
  }
}

const NO_OUTCOME = 'NO_OUTCOME';

/** The order of the request, restored from the store. */
function inOrder(rows: readonly InvitationRow[]): InvitationRow[] {
  return rows.toSorted((one, other) => (one.candidate_id < other.candidate_id ? -1 : 1));
}

/** Interviews carry their invitation's reference. A person who has not started the interview is in no list. */
async function searchInterviews(
  { deps, connection }: PushContext,
  assessmentId: string,
  rows: readonly InvitationRow[],
): Promise<void> {
  const input = { params: { assessmentId } };
  const taken = await ifShown(connection.partner.readAll(contract.assessments.listCandidates, input));
  const shown = new Set(taken?.items.map(({ externalRef }) => externalRef));
  const found = rows.filter((row) => shown.has(referenceOf(row)));
  await settleFound(deps.store, found);
}

/** If the flow's list cannot tell a person from others, they are reported and not asked for again. */
async function searchFlow({ deps, connection }: PushContext, flow: number, rows: readonly InvitationRow[]) {
  const isIn = await readFlow(connection.partner, flow);
  const answers = Map.groupBy(rows, (row) => isIn(row.job_candidate_id));
  await settleFound(deps.store, answers.get(true) ?? []);
  const unclear = { state: 'refused', code: NO_OUTCOME, in_doubt: 1 } as const;
  await settleInvitations(deps.store, answers.get(undefined) ?? [], unclear);
}

async function settleFound(store: Store, found: readonly InvitationRow[]): Promise<void> {
  await settleInvitations(store, found, { state: 'invited' });
  for (const [writeId, some] of Map.groupBy(found, (row) => row.write_id ?? '')) {
    const ids = some.map((row) => row.job_candidate_id);
    await settleSomeWrites(store, writeId, ids, 'done');
  }
}

// People whom the rules name.

interface People {
  people: Met[];
  /** People whose record cannot be read. */
  unread: Verdict[];
  sinceRead: Elapsed;
}

/** Returns everybody in the rules' stages, or only the people with a hint. */
async function findPeople(context: PushContext, { rules }: Settings, hints?: readonly Hint[]): Promise<People> {
  const found = new Map<string, Met>();
  const unread: Verdict[] = [];
  // The clock starts before the first, oldest reading.
  const sinceRead = startClock();
  for (const rule of rules) {
    const { on } = rule;
    const assessmentId = targetOf(rule);
    const read = hints === undefined ? await readStage(context, on.stage) : await readHinted(context, on.stage, hints);
    unread.push(...read.unread);
    for (const { jobId, ...member } of read.members) {
      if (on.jobs !== undefined && !on.jobs.includes(jobId)) continue;
      if (!(await isInScope(context.deps.store, context.connection, jobId))) continue;
      const key = `${assessmentId} ${member.jobCandidateId}`;
      if (!found.has(key)) found.set(key, { ...member, assessmentId, rule });
    }
  }
  const people = await withoutErased(context.deps.store, context.key.tenantId, [...found.values()]);
  return { people, unread, sinceRead };
}

interface Member {
  jobCandidateId: string;
  candidateId: string;
  jobId: string;
}

interface Members {
  members: Member[];
  unread: Verdict[];
}

async function readStage({ connection }: PushContext, stage: string): Promise<Members> {
  const read: Members = { members: [], unread: [] };
  let page = 0;
  for await (const { members, unreadable } of listStage(connection, { stage }, 'bulk')) {
    page += 1;
    for (const { rejected, ...member } of members) if (!rejected) read.members.push(member);
    for (const { id, index, reason } of unreadable)
      read.unread.push(unreadOf(id ?? `record ${index + 1} of page ${page} of stage ${stage}`, reason));
  }
  return read;
}

async function readHinted({ deps, connection }: PushContext, stage: string, hints: readonly Hint[]): Promise<Members> {
  const read: Members = { members: [], unread: [] };
  const look = async (jobCandidateId: string): Promise<void> => {
    try {
      const presence = await readPresence(deps.store, connection, jobCandidateId, [stage]);
      if (presence.verdict !== 'in' || isRejected(presence.jobCandidate)) return;
      const { candidateId, jobId } = presence;
      read.members.push({ jobCandidateId, candidateId, jobId });
    } catch (error) {
      if (!isConnectorError(error, 'RECORD_UNREADABLE')) throw error;
      read.unread.push(unreadOf(jobCandidateId, error.message));
    }
  };
  await lookAll(connection, hints.map(({ recordId }) => recordId).filter(isApplication), look);
  return read;
}

function unreadOf(id: string, reason: string): Verdict {
  return { id, kind: 'quarantined', reason: `cannot be read, so it is unknown whether to invite them: ${reason}` };
}

// Inviting people.

interface Planned {
  invitee: Invitee;
  before: InvitationRow | undefined;
}

const NO_CREDITS = 'INVITATION_CREDITS';

async function inviteAll(run: InviteRun, people: readonly Invitee[]): Promise<void> {
  const planned = Map.groupBy(await planAll(run, people), ({ invitee }) => invitee.assessmentId);
  const flows = await readFlows(run.connection.partner, [...planned.keys()]);
  const isNew = ({ before, invitee: { assessmentId, jobCandidateId } }: Planned): boolean =>
    before?.state !== 'sent' && flows.get(assessmentId)?.(jobCandidateId) !== true;
  const most = run.settings.atOnce;
  const fresh = [...planned.values()].flat().filter(isNew).length;
  const message =
    `${fresh} people would be invited in one run, more than ${most} (invitations.atOnce in the tenant file). ` +
    'None of them was invited.';
  await assertFew(run, { fresh, most, code: 'MASS_INVITE', message });
  const credits = await creditsOf(run, { code: NO_CREDITS, table: 'invitations' });
  run.isOutOfCredits = credits.isOut;
  if (!credits.mayTry) return tellAll(run, [...planned.values()].flat(), 'held', WITHOUT_CREDITS);
  for (const [target, all] of planned) {
    const isIn = flows.get(target);
    for (let rest = all.toSorted((one, other) => mostWith(other.before) - mostWith(one.before)); rest.length > 0; ) {
      // A long flow list with one request each may outlast the reading of the stage, so read the stage again.
      if (isIn !== undefined && run.sinceRead() > run.deps.limits.giveUpMs) rest = await stillThere(run, rest);
      const size = mostWith(rest[0]?.before);
      const alike = rest.filter(({ before }) => mostWith(before) === size);
      // While credits are missing, send one invitation and no more until it is accepted.
      const some = alike.slice(0, run.isOutOfCredits || isIn !== undefined ? 1 : size);
      rest = rest.slice(some.length);
      await assertOurs(run);
      const shut = some.length === 0 ? undefined : await invite(run, target, some, isIn);
      if (shut !== undefined) tellAll(run, [...some, ...rest.splice(0)], 'quarantined', shut);
      if (run.isOutOfCredits) tellAll(run, rest.splice(0), 'held', WITHOUT_CREDITS);
      run.beat();
    }
  }
}

async function stillThere(run: InviteRun, planned: readonly Planned[]): Promise<Planned[]> {
  const { people, sinceRead } = await findPeople(run, run.settings, run.looked);
  run.sinceRead = sinceRead;
  const present = new Set(people.map(nameOf));
  return planned.filter(({ invitee }) => present.has(nameOf(invitee)));
}

/** Plans invitations for people in the stages, and reports a verdict for the others. */
async function planAll(run: InviteRun, people: readonly Invitee[]): Promise<Planned[]> {
  const { deps, key, full, searched } = run;
  const planned: Planned[] = [];
  for (const [assessmentId, some] of Map.groupBy(people, (one) => one.assessmentId)) {
    const ids = some.map(({ candidateId }) => candidateId);
    const rows = await readInvitationsOf(deps.store, key.tenantId, assessmentId, ids);
    // A person with two applications is invited once, by the one that was recorded.
    const isRecorded = (one: Invitee): boolean => rows.get(one.candidateId)?.job_candidate_id === one.jobCandidateId;
    const persons = Map.groupBy(some, ({ candidateId }) => candidateId);
    for (const [candidateId, own] of persons) {
      const before = rows.get(candidateId);
      const invitee = own.find(isRecorded) ?? (own[0] as Invitee);
      const isDue = before?.state === 'sent' && searched.has(attemptOf(before));
      const isWanted = before === undefined || before.state === 'absent' || (full && before.state === 'refused');
      if (isWanted || isDue) planned.push({ invitee, before });
      else if (before.state !== 'refused') tell(run, nameOf(invitee), 'unchanged');
    }
  }
  return planned;
}

/**
 * Stops searching for people who left the stage without an answer. If they come back, an invitation the partner has by
 * then may be ours.
 */
async function letGo({ deps, key, searched }: InviteRun, people: readonly Invitee[]): Promise<void> {
  const present = new Set(people.map((one) => `${one.assessmentId} ${one.candidateId}`));
  const { rows } = await readOpenInvitations(deps.store, key.tenantId);
  const left = rows.filter(
    (row) =>
      row.state === 'sent' && searched.has(attemptOf(row)) && !present.has(`${row.assessment_id} ${row.candidate_id}`),
  );
  await settleInvitations(deps.store, left, { state: 'absent', code: 'UNANSWERED', in_doubt: 1 });
}

const WITHOUT_CREDITS = 'the hiring platform has no credits for invitations';

function tellAll(run: InviteRun, planned: readonly Planned[], kind: Verdict['kind'], reason: string): void {
  for (const { invitee } of planned) tell(run, nameOf(invitee), kind, reason);
}

/**
 * Sends one request for some people. A request refused as a whole is split in halves, down to the person at fault.
 * Returns why nobody at all can be invited to this assessment or flow now.
 */
async function invite(
  run: InviteRun,
  assessmentId: string,
  planned: readonly Planned[],
  isIn?: InFlow,
): Promise<string | undefined> {
  const { deps, key, connection } = run;
  const { store, limits } = deps;
  const clock = startClock();
  const writeId = await recordWrites(
    store,
    originOf(run),
    planned.map(({ invitee }) => writeOf(invitee)),
  );
  const rows = await sendInvitations(store, key.tenantId, planned, { writeId, budgetMs: limits.giveUpMs });
  if (rows.length === 0) return settleWrites(store, writeId, 'absent') as Promise<undefined>;
  if (rows.every((row) => isIn?.(row.job_candidate_id) === true)) {
    await settleInvitations(store, rows, { state: 'invited', code: 'ALREADY_INVITED' });
    return settleWrites(store, writeId, 'absent') as Promise<undefined>;
  }
  const { signal, beforeSend } = guardFor('invite', limits.giveUpMs, clock, run.sinceRead);
  const sent = await sendOnce(run, writeId, () =>
    askPartner(connection.partner, assessmentId, inOrder(rows), { signal, beforeSend }),
  );
  if (sent === undefined) return undefined;
  if ('error' in sent) return settleRefused(run, { assessmentId, planned, rows, error: sent.error });
  await settleInvitations(store, rows, sent.answer);
  await settleWrites(store, writeId, 'done');
  for (const { invitee } of planned) tell(run, nameOf(invitee), 'created');
  if (run.isOutOfCredits) await closeTenantHolds(store, key.tenantId, NO_CREDITS);
  run.isOutOfCredits = false;
  return undefined;
}

function writeOf({ jobCandidateId, candidateId, assessmentId }: Invitee) {
  const reference =
    flowOf(assessmentId) === undefined ? { externalRef: referenceOf({ candidate_id: candidateId }) } : {};
  const changes = newValues({ assessmentId, ...reference });
  return { target: 'invitation', recordId: jobCandidateId, kind: 'create' as const, changes, sensitive: [] };
}

interface Refused {
  assessmentId: string;
  planned: readonly Planned[];
  rows: readonly InvitationRow[];
  error: ConnectorError;
}

/** The partner took none of the invitations. */
async function settleRefused(
  run: InviteRun,
  { assessmentId, planned, rows, error }: Refused,
): Promise<string | undefined> {
  const { store } = run.deps;
  const { tenantId } = run.key;
  if (error.status === 402) {
    await settleInvitations(store, rows, { state: 'absent', code: NO_CREDITS });
    await openHold(store, { tenantId, ...holdOf(NO_CREDITS, { assessmentId }) });
    run.isOutOfCredits = true;
    tellAll(run, planned, 'held', WITHOUT_CREDITS);
    return undefined;
  }
  const shut = await whyShut(run.connection.partner, assessmentId, error);
  const isOfOne = shut === undefined && isRefusedOfRecord(error);
  if (!isOfOne || rows.length > 1) await settleInvitations(store, rows, { state: 'absent', code: error.code });
  if (shut !== undefined) return shut;
  if (!isOfOne) throw error;
  if (rows.length === 1) {
    const state = error.code === 'DUPLICATE_INVITE' ? 'invited' : 'refused';
    await settleInvitations(store, rows, { state, code: error.code });
    return undefined;
  }
  const half = Math.ceil(rows.length / 2);
  const first = await invite(run, assessmentId, rows.slice(0, half).map(again));
  return first ?? invite(run, assessmentId, rows.slice(half).map(again));
}

function again(row: InvitationRow): Planned {
  const { assessment_id: assessmentId, candidate_id: candidateId, job_candidate_id: jobCandidateId } = row;
  return { invitee: { assessmentId, candidateId, jobCandidateId }, before: { ...row, state: 'absent' } };
}

/**
 * A batch may use words of its own to say that it is over (A4). After this time people are told that there is no
 * outcome, and the batch is still asked for.
 */
const OUTCOME_MS = 3_600_000;

/** Tells of people that the partner still refuses, and of those without an outcome. */
async function tellRefused(run: InviteRun): Promise<void> {
  const { rows, now } = await readOpenInvitations(run.deps.store, run.key.tenantId);
  const isLate = (row: InvitationRow) => row.state === 'taken' && now - (row.sent_at ?? now) > OUTCOME_MS;
  for (const row of rows.filter((one) => one.state === 'refused' || isLate(one))) {
    const reason =
      row.state === 'taken' || row.code === NO_OUTCOME
        ? 'the hiring platform reports no outcome of their invitation'
        : `the hiring platform refused to invite them: ${row.code ?? 'no reason given'}`;
    tell(run, nameOf(again(row).invitee), 'quarantined', reason);
  }
}

/** Invitations per request; one bad entry can spoil all of them. */
const BATCH = 100;

/**
 * How many people to invite in one request. Each request without an answer makes the next one smaller, because one of
 * its people may be the cause.
 */
function mostWith(before: InvitationRow | undefined): number {
  return before?.state === 'sent' ? Math.ceil(BATCH / 8 ** before.attempt) : BATCH;
}
