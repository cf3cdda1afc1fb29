import { ConnectorError, isConnectorError, unless } from '../../src/errors.ts';
import { type HireRef, isSameHire } from '../../src/hire/hire.ts';
import type { Enrolled } from '../../src/hire/hire-activities.ts';
import { type Held, held, holdOf } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { OnboardingCandidate } from '../../src/partner/contract/onboarding.ts';
import { cleanEmail } from '../../src/partner/contract/shapes.ts';
import {
  adoptable,
  type Enrolment,
  type EnrolmentRequest,
  enrolmentRequest,
  judgeAdoption,
  judgeDuplicate,
  judgeRefusedEnrolment,
  planEnrolment,
} from '../../src/plan/plan-enrolment.ts';
import {
  type CreditNumbers,
  closeCreditGate,
  isCreditGateOpen,
  openCreditGate,
  passCreditGate,
  recordEnrolment,
  releaseCanary,
  type Turn,
} from '../../src/store/enrolments.ts';
import { hiresAwaitingCredits, hiresOfEnrolments, updateHire } from '../../src/store/hires.ts';
import { closeTenantHolds, openHold } from '../../src/store/holds.ts';
import { decideIntent, latestIntent } from '../../src/store/intents.ts';
import { hireOf, inTransaction } from '../../src/store/open-store.ts';
import { siblingsOf } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { shareReads } from '../presence/fetch-job-candidates.ts';
import { readPresence } from '../presence/read-presence.ts';
import { claimPerson } from './ask-person.ts';
import { heldOutsideScope, type Seen, seePerson } from './read-sources.ts';
import {
  enrolmentReference,
  type HireContext,
  heldByAnswer,
  newValues,
  notePerson,
  noteWrites,
  onceOf,
  readEnrolmentReference,
  withHireOrHeld,
} from './with-hire.ts';
import { type Seen as Looked, type Once, type SendGuard, writeOnce } from './write-once.ts';

const AT_ONCE_MS = 1;

/** The hire's nth enrolment in this period. */
interface Attempt {
  nth: number;
  reference: string;
  flowId: string;
}

/**
 * Enrols the person once per (hire, period, enrolment): claims the person or asks how this hire relates to them, looks
 * for our reference, commits the intent, and only then spends the credit. `seen`: the person as read a moment ago.
 */
export function enrol(deps: ActivityDeps, given: HireRef, seen?: Seen): Promise<Enrolled> {
  return withHireOrHeld(deps, given, async (hire): Promise<Enrolled> => {
    const { connection, ref, row, decisions } = hire;
    const answered = heldByAnswer(hire);
    if (answered !== undefined) return answered;
    const plan = planEnrolment(connection.tenant.policies.onboarding, decisions);
    if (plan.kind === 'skip') return { verdict: 'skip' };
    if (plan.kind === 'adopt') return adoptEnrolment(hire, plan.onboardingCandidateId);
    const attempt = { nth: row.enrolment, reference: enrolmentReference(ref, row.enrolment), flowId: plan.flowId };
    return enrolOnce(hire, attempt, seen);
  });
}

async function enrolOnce(hire: HireContext, attempt: Attempt, seen?: Seen): Promise<Enrolled> {
  const { store, connection, ref, row } = hire;
  const { credits } = connection.tenant.policies;
  await updateHire(store, ref, { step: 'enrol', onboarding_reference: attempt.reference }, row);
  const turn = await passCreditGate(store, ref, verbOf(attempt), credits.canaryEvery);
  if ('waitMs' in turn) return adoptOrWait(hire, attempt, turn.waitMs);
  try {
    const enrolled = await enrolInTurn(hire, attempt, turn, seen);
    if (enrolled.verdict !== 'no-credits') await passOn(hire, turn, true);
    return enrolled;
  } catch (error) {
    // A refusal becomes a question about this hire. After other errors this hire itself tries again.
    if (isConnectorError(error) && error.action !== 'unknown') await passOn(hire, turn, error.action === 'reject');
    throw error;
  }
}

/** Gives the turn of a canary back if it found out nothing about credits; the next hire then need not wait. */
async function passOn({ deps, ref: { tenantId } }: HireContext, turn: Turn, tellsNext: boolean): Promise<void> {
  const { store, signalHire } = deps;
  if (turn.canary === 'none' || !(await releaseCanary(store, tenantId, turn)) || !tellsNext) return;
  const [next] = await hiresAwaitingCredits(store, tenantId);
  if (next === undefined) return;
  await signalHire({ tenantId, jobCandidateId: next.job_candidate_id }, 'credits', { start: false });
}

async function enrolInTurn(hire: HireContext, attempt: Attempt, turn: Turn, seen?: Seen): Promise<Enrolled> {
  const { deps, store, connection, ref } = hire;
  const { presence, sinceRead } = seen ?? (await seePerson(store, connection, ref.jobCandidateId));
  if (presence.verdict !== 'in') return { verdict: 'left' };
  await notePerson(hire, presence);
  const outside = await heldOutsideScope(hire, presence.jobId);
  if (outside !== undefined) return outside;
  const claimed = await claimPerson(hire, presence.candidateId);
  if (claimed.verdict === 'hold') return claimed;
  const person = presence.jobCandidate.candidate_details;
  const completed = await heldCompleted(hire, attempt, person?.email);
  if (completed !== undefined) return completed;
  const { reference, flowId } = attempt;
  const once = await writeOnce<Enrolment, EnrolmentRequest>({
    ...onceOf(hire, verbOf(attempt), deps.limits.partnerLagMs),
    pinned: () => enrolmentRequest(ref, { flowId, reference }, person),
    look: () => lookForEnrolment(connection, reference),
    sinceRead,
    note({ flowId: flow, reference: externalRef, ...own }, intent) {
      // The enrolment's values are the person's own, so only flow and reference are shown.
      const changes = newValues({ flowId: flow, externalRef, ...own });
      return noteWrites(hire, [{ target: 'enrolment', kind: 'create', changes, sensitive: Object.keys(own) }], intent);
    },
    send: (request, guard) => send(connection, request, guard, () => turnBackAtGate(hire, turn)),
  });
  return settle(hire, attempt, once, turn);
}

/**
 * Asks before the first credit is spent if the person completed this flow elsewhere. A person who answered re-enrol
 * wants another enrolment anyway.
 */
async function heldCompleted(
  hire: HireContext,
  attempt: Attempt,
  email: string | null | undefined,
): Promise<Held | undefined> {
  const { store, ref, decisions } = hire;
  if (decisions.enrolAnew || attempt.nth > 1) return undefined;
  // If an earlier request may have arrived, the look by reference tells. After a refusal, somebody may have enrolled
  // the person by hand.
  const earlier = await latestIntent(store, ref, verbOf(attempt));
  if (earlier?.outcome === 'open' || earlier?.outcome === 'done') return undefined;
  const completed = await findCompletedElsewhere(hire, { flowId: attempt.flowId, email });
  const [onboardingCandidateId] = completed;
  if (onboardingCandidateId === undefined) return undefined;
  return held('ENROLMENT_COMPLETED_ELSEWHERE', {
    jobCandidateId: ref.jobCandidateId,
    onboardingCandidateIds: completed,
  });
}

function verbOf({ nth }: Attempt): string {
  return `enrol:${nth}`;
}

/** With the credit gate closed, takes an existing enrolment, which costs nothing, or waits for the canary. */
async function adoptOrWait(hire: HireContext, attempt: Attempt, waitMs: number): Promise<Enrolled> {
  const { store, connection, ref } = hire;
  const hit = adoptable(await findEnrolments(connection, attempt.reference));
  if (hit === undefined) return waitForCredits(hire, waitMs);
  const latest = await latestIntent(store, ref, verbOf(attempt));
  if (latest !== undefined) await decideIntent(store, latest, 'done', hit);
  return adopt(hire, attempt, hit);
}

async function send(
  { partner }: Connection,
  pinned: EnrolmentRequest,
  { signal, beforeSend }: SendGuard,
  beforeWrite: () => Promise<void>,
): Promise<Enrolment> {
  const { flowId, reference, ...person } = pinned;
  const body = { ...person, externalRef: reference, metadata: { reference } };
  const answer = await partner.onboarding.enrol(
    { params: { flowId }, body },
    { priority: 'live', signal, beforeSend, beforeWrite },
  );
  return enrolmentOf(answer.data);
}

async function settle(hire: HireContext, attempt: Attempt, once: Once<Enrolment>, turn: Turn): Promise<Enrolled> {
  const { deps, connection, ref } = hire;
  const { jobCandidateId } = ref;
  if (once.kind === 'unprovable') return held('ENROLMENT_UNKNOWN', { jobCandidateId, reference: attempt.reference });
  if (once.kind !== 'refused') {
    const adopted = await adopt(hire, attempt, once.value);
    // An enrolment that left before the first 402 proves nothing; the canary's does.
    if (turn.canary === 'sent' || (turn.canary === 'new' && once.kind === 'made'))
      await openGate(deps, ref.tenantId, turn);
    if (once.kind !== 'made') return adopted;
    // This same attempt read that the person is in the stage.
    return { verdict: 'enrolled', present: true, waiting: once.value.status === 'not_started' };
  }
  const refused = judgeRefusedEnrolment(once.error);
  if (refused.kind === 'other') throw once.error;
  if (refused.kind === 'no-credits') {
    const { required, available } = refused;
    await closeGate(deps, ref.tenantId, turn, { required, available });
    return waitForCredits(hire, connection.tenant.policies.credits.canaryEvery);
  }
  const judged = judgeDuplicate(ref, await findEnrolments(connection, attempt.reference));
  return 'verdict' in judged ? judged : adopt(hire, attempt, judged);
}

/**
 * Records an enrolment that existed before. By itself, this proves neither credits nor that this attempt read the
 * person in the stage.
 */
async function adopt({ store, ref }: HireContext, { nth }: Attempt, enrolment: Enrolment): Promise<Enrolled> {
  await recordEnrolment(store, ref, nth, { id: enrolment.onboardingCandidateId, status: enrolment.status });
  return { verdict: 'enrolled' };
}

/** If the gate opened before this hire was stored as waiting, nobody told it, so it looks again at once. */
async function waitForCredits({ store, ref }: HireContext, waitMs: number): Promise<Enrolled> {
  await updateHire(store, ref, { step: 'await-credits' });
  return { verdict: 'no-credits', waitMs: (await isCreditGateOpen(store, ref.tenantId)) ? AT_ONCE_MS : waitMs };
}

const PAGE = 100;
/**
 * If the list has more pages, only its first and last pages are read, because recent enrolments are at one of its ends.
 */
const MOST_PAGES = 5;

/**
 * Completed enrolments of this person in this flow that carry no reference of ours and belong to no hire. The partner
 * refuses a second enrolment only while the first is active (section 7), so only this look saves the credit.
 */
async function findCompletedElsewhere(
  { store, connection, ref }: HireContext,
  person: { flowId: string; email: string | null | undefined },
): Promise<string[]> {
  const email = emailOf(person.email);
  if (email === undefined) return [];
  const ids = (await readCompleted(connection))
    .filter((one) => one.overallStatus === 'completed' && emailOf(one.email) === email)
    .filter(({ flowId }) => flowId === null || flowId === undefined || String(flowId) === person.flowId)
    .filter(({ externalRef }) => readEnrolmentReference(externalRef) === undefined)
    .map((one) => one.onboardingCandidateId);
  const hires = await hiresOfEnrolments(store, ref.tenantId, ids);
  return ids.filter((id) => hires.every((hire) => hire.onboarding_candidate_id !== id));
}

/** Hires that look at the same moment share a read, but never across two keys. */
const readCompleted = shareReads<Connection, readonly OnboardingCandidate[]>(
  ({ partner }) => partner,
  async (looks) => {
    const items = await readEnds(looks[0] as Connection);
    return looks.map(() => items);
  },
);

async function readEnds(connection: Connection): Promise<readonly OnboardingCandidate[]> {
  const first = await readPages(connection, 1, 1);
  const last = Math.ceil((first.total ?? 0) / PAGE);
  if (last < 2) return first.items;
  const from = Math.max(2, last - MOST_PAGES + 2);
  return [...first.items, ...(await readPages(connection, from, last)).items];
}

/** A partner that refuses the filter shows nobody. This look only saves a cost, so it must not stop a hire. */
async function readPages(
  { partner }: Connection,
  from: number,
  to: number,
): Promise<{ items: OnboardingCandidate[]; total: number | undefined }> {
  const items: OnboardingCandidate[] = [];
  let total: number | undefined;
  try {
    const query = { status: 'completed' as const };
    const pages = partner.pages(contract.onboarding.listCandidates, { query }, { priority: 'live', from });
    let number = from;
    for await (const page of pages) {
      items.push(...page.items);
      total = page.total ?? total;
      number += 1;
      if (number > to) break;
    }
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
  }
  return { items, total };
}

/** The partner refused an enrolment for lack of credits, so the tenant's other enrolments wait from now on. */
async function closeGate(
  { store, log }: ActivityDeps,
  tenantId: string,
  turn: Turn,
  numbers: CreditNumbers,
): Promise<void> {
  // Together, so that the hold is open exactly while the gate is closed, unless a person answered.
  const isNews = await inTransaction(store, async (trx) => {
    if (!(await closeCreditGate(trx, tenantId, turn, numbers))) return false;
    await openHold(trx, { tenantId, ...holdOf('CREDITS_USED_UP', numbers) });
    return turn.canary === 'none';
  });
  if (isNews) log.error({ tenantId, ...numbers }, 'onboarding credits used up, enrolments wait');
}

/** The canary's enrolment went through, so the hires that wait for credits go on. */
async function openGate({ store, signalHire, log }: ActivityDeps, tenantId: string, turn: Turn): Promise<void> {
  const isOpened = await inTransaction(store, async (trx) => {
    if (!(await openCreditGate(trx, tenantId, turn))) return false;
    await closeTenantHolds(trx, tenantId, 'CREDITS_USED_UP');
    return true;
  });
  if (!isOpened) return;
  const waiting = await hiresAwaitingCredits(store, tenantId);
  log.info({ tenantId, waiting: waiting.length }, 'onboarding credits are back, enrolments go on');
  for (const hire of waiting)
    await signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: false });
}

/**
 * Many enrolments may have passed the gate, here or in another process, before the first 402 closed it; sending each of
 * them to be refused helps nobody.
 */
async function turnBackAtGate({ store, ref }: HireContext, { canary }: Turn): Promise<void> {
  const { tenantId, jobCandidateId } = ref;
  if (canary !== 'none' || (await isCreditGateOpen(store, tenantId))) return;
  throw new ConnectorError({
    code: 'CREDIT_GATE_CLOSED',
    action: 'retry',
    message:
      `The enrolment of job candidate ${jobCandidateId} was not sent: ` +
      `tenant ${tenantId} has no onboarding credits.`,
  });
}

function enrolmentOf(candidate: OnboardingCandidate): Enrolment {
  return { onboardingCandidateId: candidate.onboardingCandidateId, status: String(candidate.overallStatus) };
}

/**
 * Looks for enrolments by our reference in all statuses, terminal ones included. Compares each hit again here: the
 * filter's name is assumed (O6), and a partner that ignores it lists everybody, which proves absence just as well.
 */
export async function findEnrolments(connection: Connection, reference: string): Promise<Enrolment[]> {
  const { items } = await connection.partner.readAll(
    contract.onboarding.listCandidates,
    { query: { externalRef: reference } },
    { priority: 'live' },
  );
  return items.filter((item) => item.externalRef === reference).map(enrolmentOf);
}

/** The same look as evidence about one write: several hits, or a filter that cannot be trusted, prove nothing. */
async function lookForEnrolment(connection: Connection, reference: string): Promise<Looked<Enrolment>> {
  const hits = await findEnrolments(connection, reference);
  const [hit] = hits;
  if (hits.length > 1) return { kind: 'unprovable' };
  if (hit !== undefined) return { kind: 'found', value: hit };
  return (await isFilterTrusted(connection)) ? { kind: 'absent' } : { kind: 'unprovable' };
}

/** Whether the filter was proven by looking for an enrolment known to exist; per open connection. */
const proven = new WeakMap<Connection['partner'], boolean>();

async function isFilterTrusted(connection: Connection): Promise<boolean> {
  const known = proven.get(connection.partner);
  if (known !== undefined) return known;
  const { partner } = connection;
  let example: string | undefined;
  for await (const { items } of partner.pages(contract.onboarding.listCandidates, {}, { priority: 'live' })) {
    example = items.find(({ externalRef }) => externalRef)?.externalRef ?? undefined;
    if (example !== undefined) break;
  }
  // No enrolment carries a reference yet, so the filter can hide nothing and nothing can test it.
  if (example === undefined) return true;
  const trusted = (await findEnrolments(connection, example)).length > 0;
  proven.set(connection.partner, trusted);
  return trusted;
}

/**
 * Takes the enrolment that a person named, if it fits this hire. Two hires may be given the same one at the same
 * moment: a hire that stored it and then finds it at another hire gives it back and asks.
 */
async function adoptEnrolment(hire: HireContext, id: string): Promise<Enrolled> {
  const { store, ref, row } = hire;
  if (row.onboarding_candidate_id === id) return { verdict: 'enrolled' };
  const taken = await take(hire, id);
  if (taken.verdict === 'hold') return taken;
  const otherHire = await holderBeside(hire, id);
  if (otherHire === undefined) return taken;
  const none = { onboarding_candidate_id: null, onboarding_reference: row.onboarding_reference };
  await updateHire(store, ref, { ...none, onboarding_status: null }, { enrolment: row.enrolment });
  const misfit = `belongs to job candidate ${otherHire}`;
  return held('ADOPT_MISFIT', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id, misfit });
}

async function take(hire: HireContext, id: string): Promise<Enrolled> {
  const { store, connection, ref, row, decisions } = hire;
  const read = connection.partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  const enrolment = (await read.catch(unless('NOT_FOUND')))?.data;
  if (enrolment === undefined) return held('ADOPT_NOT_FOUND', { onboardingCandidateId: id });
  const { onboarding } = connection.tenant.policies;
  const presence = await readPresence(store, connection, ref.jobCandidateId, hiringStagesOf(connection.tenant));
  const person = presence.verdict === 'missing' ? undefined : presence.jobCandidate.candidate_details;
  const judged = judgeAdoption({
    jobCandidateId: ref.jobCandidateId,
    onboardingCandidateId: id,
    otherHire: await otherHireOf(hire, enrolment, id),
    flow: { shown: textOf(enrolment.flowId), wanted: onboarding === 'skip' ? undefined : textOf(onboarding.flow) },
    email: { shown: emailOf(enrolment.email), wanted: emailOf(person?.email) },
    emailConfirmed: decisions.adoptAnyway === id,
  });
  if (judged.verdict === 'hold') return judged;
  await updateHire(
    store,
    ref,
    {
      step: 'onboard',
      onboarding_candidate_id: id,
      onboarding_reference: enrolment.externalRef ?? null,
      onboarding_status: String(enrolment.overallStatus),
    },
    row,
  );
  return { verdict: 'enrolled' };
}

/** Finds another hire of the enrolment in our records, or by our reference on it if the record was lost. */
async function otherHireOf(
  { store, ref }: HireContext,
  { externalRef }: OnboardingCandidate,
  id: string,
): Promise<string | undefined> {
  const holder = await holderBeside({ store, ref }, id);
  if (holder !== undefined) return holder;
  const named = readEnrolmentReference(externalRef)?.jobCandidateId;
  return named === ref.jobCandidateId ? undefined : named;
}

/** The job candidate of another hire that has the enrolment, in any tenant of the company. */
export async function holderBeside(
  { store, ref }: Pick<HireContext, 'store' | 'ref'>,
  id: string,
): Promise<string | undefined> {
  for (const tenantId of [ref.tenantId, ...(await siblingsOf(store, ref.tenantId))]) {
    const holders = await hiresOfEnrolments(store, tenantId, [id]);
    const holder = holders.find((one) => !isSameHire(hireOf(one), ref));
    if (holder !== undefined) return holder.job_candidate_id;
  }
  return undefined;
}

function textOf(value: string | number | null | undefined): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** Folds an e-mail as enrolments are compared. */
function emailOf(value: string | null | undefined): string | undefined {
  return value ? cleanEmail(value).toLowerCase() : undefined;
}
