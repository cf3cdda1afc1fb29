import { ConnectorError, unless } from '../../src/errors.ts';
import { asksToCancel } from '../../src/hire/answers.ts';
import type { EndState, HireRef } from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type Held, type HoldCode, held } from '../../src/hire/holds.ts';
import { terminalStatuses } from '../../src/partner/contract/onboarding.ts';
import { liveEnrolment, mayBeTerminatedByUs, planCancel } from '../../src/plan/plan-cancel.ts';
import { beginNextEnrolment } from '../../src/store/enrolments.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { readHireRow, updateHire, whileOpen } from '../../src/store/hires.ts';
import { answersOf, closeUnanswered } from '../../src/store/holds.ts';
import { latestIntent, requestUnderWay } from '../../src/store/intents.ts';
import { readClock } from '../../src/store/open-store.ts';
import { releasePeople } from '../../src/store/people.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { readPresence } from '../presence/read-presence.ts';
import { settleForEnd } from './apply-plan.ts';
import { hintReturn } from './departure.ts';
import { findEnrolments, holderBeside } from './enrol.ts';
import { tellWhyHeld } from './finish-hire.ts';
import { sentRehire } from './read-employee.ts';
import {
  CREATE_VERB,
  enrolmentReference,
  type HireContext,
  noteWrites,
  onceOf,
  reread,
  withHire,
  withHireOrHeld,
} from './with-hire.ts';
import { type Elapsed, type OnceOptions, type Seen, settleEarlier, startClock, writeOnce } from './write-once.ts';

/** Ends the enrolment, releases the claim and ends the period. Each part is safe to repeat. */
export function cancelHire(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['cancelHire']> {
  return withHireOrHeld(
    deps,
    given,
    async (found) => {
      const { store, ref } = found;
      const lookedAt = await readClock(store);
      const sinceRead = startClock();
      // Read after the clock, so that requestUnderWay sees anything that began later.
      const hire = await reread(found);
      const { row, answers } = hire;
      const plan = planCancel({ ...ref, state: row.state, employeeId: row.employee_id, answers });
      const mayBeBack = 'verdict' in plan || plan.mayBeBack;
      if (mayBeBack && (await isBack(hire))) {
        // The workflow goes on, so nobody would take the answer to a question about the end.
        await closeUnanswered(store, ref, { openedBy: lookedAt });
        return goesOn(hire);
      }
      if ('verdict' in plan) return plan;
      const made = await heldForEmployee(hire);
      if (made !== undefined) return made;
      const ended = await terminateEnrolment(hire, 'hire cancelled', sinceRead);
      if (ended.verdict === 'hold') {
        await hintReturn(hire);
        return ended;
      }
      await tellWhyHeld(hire, 'over');
      await endCancelled(hire, plan.ends, lookedAt);
      deps.log.info(ref, 'hire cancelled');
      return { verdict: 'cancelled', state: (await reread(hire)).row.state } as const;
    },
    'ending',
  );
}

/** Settles what was sent before its hire ends; if there is an employee by it, a person is asked about them. */
async function heldForEmployee(hire: HireContext): Promise<Held | undefined> {
  const unsettled = await settleForEnd(hire, { asked: knowsOfCreate(hire.answers) });
  if (unsettled !== undefined) return unsettled;
  const { row, answers, ref } = await reread(hire);
  const plan = planCancel({ ...ref, state: row.state, employeeId: row.employee_id, answers });
  return 'verdict' in plan ? plan : undefined;
}

/** Also notices a person who comes back while nobody has said yet how their hire ends. */
export function lookForReturn(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['lookForReturn']> {
  return withHire(deps, given, async (hire) => {
    const { row, answers, store, ref } = hire;
    if (row.employee_id !== null) return { verdict: 'away' } as const;
    const plan = planCancel({ ...ref, state: row.state, employeeId: null, answers });
    const openedBy = await readClock(store);
    if ('verdict' in plan || !plan.mayBeBack || !(await isBack(hire))) return { verdict: 'away' } as const;
    // An answer given in the meantime goes first.
    return (await closeUnanswered(store, ref, { openedBy })) ? goesOn(hire) : ({ verdict: 'away' } as const);
  });
}

/**
 * A person who is back no longer counts among the hires that end. Written in any case: another attempt that read the
 * hire before, and stands still, must not end it any more.
 */
async function goesOn(hire: HireContext): Promise<{ verdict: 'back' }> {
  await updateHire(hire.store, hire.ref, { step: 'enrol' });
  await tellWhyHeld(hire, 'as it stands');
  return { verdict: 'back' };
}

/**
 * Whether the person is in the stage again without our termination; after ours they are hired anew, in a new period.
 */
async function isBack(hire: HireContext): Promise<boolean> {
  const { store, connection, ref } = hire;
  const { verdict } = await readPresence(store, connection, ref.jobCandidateId, hiringStagesOf(connection.tenant));
  return verdict === 'in' && !(await isTerminatedByUs(hire));
}

async function endCancelled(hire: HireContext, ends: EndState, lookedAt: number): Promise<void> {
  const { deps, store, ref } = hire;
  await whileOpen(store, ref, async (open) => {
    const waitMs = await requestUnderWay(open, ref, lookedAt);
    if (waitMs !== undefined) throw underWay(ref, waitMs);
    // A worker that stood still must not use an old reading to end a hire that continues by now.
    if ((await readClock(open)) - lookedAt > 2 * deps.limits.giveUpMs) throw underWay(ref, 0);
    // Nor a reading that another attempt has overtaken, because the person came back.
    const now = await readHireRow(open, ref);
    if (now.employee_id !== null || now.updated_at !== hire.row.updated_at) throw underWay(ref, 0);
    // Sent since this hire was looked at; an earlier one was asked about, or a create after it.
    const rehire = knowsOfCreate(hire.answers) ? undefined : await sentRehire({ ...hire, store: open });
    if (rehire?.isLost === false) throw underWay(ref, 0);
    const create = await latestIntent(open, ref, CREATE_VERB);
    const mayHaveMade = create?.outcome === 'open' || create?.outcome === 'done';
    const answers = mayHaveMade ? await answersOf(open, ref) : [];
    // A hire whose create may have made an employee is ended only by a person who was asked about it.
    if (mayHaveMade && !knowsOfCreate(answers)) throw underWay(ref, 0);
    // EMPLOYEE_PENDING and LEFT_WHILE_PENDING name no attempt: there the person withdraws the request.
    const isUnsettled = mayHaveMade && cancelIn(answers)?.details?.['attempt'] === create.attempt;
    await releasePeople(open, ref, isUnsettled);
    await endHire(open, ref, ends);
  });
}

/** Questions that say that the HR system may still create the employee, or may have done so. */
const ABOUT_CREATE: readonly HoldCode[] = ['CREATE_UNKNOWN', 'REQUEST_LOST', 'EMPLOYEE_PENDING', 'LEFT_WHILE_PENDING'];

/** Whether the person who cancelled the hire was told of its create. Other questions say nothing of one. */
function knowsOfCreate(answers: HireContext['answers']): boolean {
  const code = asksToCancel(answers) ? cancelIn(answers)?.code : undefined;
  return ABOUT_CREATE.some((one) => one === code);
}

function cancelIn(answers: HireContext['answers']) {
  return answers.findLast(({ answer }) => answer === 'cancel');
}

/** Ends the live enrolment and increments its number; a repeat finds the new number and does nothing. */
export function startNextEnrolment(
  deps: ActivityDeps,
  input: HireRef,
): ReturnType<HireActivities['startNextEnrolment']> {
  return withHireOrHeld(deps, input, async (hire) => {
    const { ref, row } = hire;
    if (row.onboarding_candidate_id === null) return { verdict: 'begun' } as const;
    const ended = await terminateEnrolment(hire, 'enrolled anew', startClock());
    if (ended.verdict === 'hold') return ended;
    await beginNextEnrolment(deps.store, ref, row.enrolment);
    return { verdict: 'begun' } as const;
  });
}

/** Ends this hire's live enrolment and stores that we did it. An enrolment in a terminal status is left alone. */
async function terminateEnrolment(
  hire: HireContext,
  reason: string,
  sinceRead: Elapsed,
): Promise<{ verdict: 'ended' } | Held> {
  const ids = await enrolmentIds(hire);
  if (ids.length === 0) return { verdict: 'ended' };
  const once = await writeOnce(terminationOf(hire, { ids, reason, sinceRead }));
  if (once.kind !== 'refused') return { verdict: 'ended' };
  const { code, message } = once.error;
  const { jobCandidateId } = hire.ref;
  return held('TERMINATE_REFUSED', { jobCandidateId, onboardingCandidateIds: ids, refusal: code, said: message });
}

/**
 * Whether we ended this enrolment ourselves, even if the answer was lost. Asked if the person is back in the stage
 * while their hire is being cancelled: after our own termination that is a new period and needs no question.
 */
async function isTerminatedByUs(hire: HireContext): Promise<boolean> {
  const latest = await latestIntent(hire.store, hire.ref, verbOf(hire.row));
  if (!mayBeTerminatedByUs(latest)) return false;
  const ids = await enrolmentIds(hire);
  const settled = await settleEarlier(terminationOf(hire, { ids, reason: '', sinceRead: startClock() }));
  return settled.kind === 'adopted';
}

function verbOf({ enrolment }: HireRow): string {
  return `terminate:${enrolment}`;
}

function terminationOf(
  hire: HireContext,
  { ids, reason, sinceRead }: { ids: readonly string[]; reason: string; sinceRead: Elapsed },
): OnceOptions<null, { reason: string }> {
  const { deps, connection, row } = hire;
  return {
    ...onceOf(hire, verbOf(row), deps.limits.partnerLagMs),
    pinned: () => ({ reason }),
    look: () => lookForEnd(connection, ids),
    sinceRead,
    readAt: row.updated_at,
    note(_pinned, { verb, attempt }) {
      const changes = { status: { new: 'terminated' } };
      const write = { target: 'enrolment', foreignId: ids.join(' '), kind: 'end' as const, changes, sensitive: [] };
      return noteWrites(hire, [write], { verb, attempt });
    },
    async send(body, { signal, beforeSend }) {
      for (const onboardingCandidateId of ids) {
        const request = { params: { onboardingCandidateId }, body };
        await connection.partner.onboarding
          .terminate(request, { priority: 'live', signal, beforeSend })
          .catch(unless('ALREADY_TERMINAL', 'NOT_FOUND'));
      }
      return null;
    },
  };
}

async function lookForEnd({ partner }: Connection, ids: readonly string[]): Promise<Seen<null>> {
  for (const onboardingCandidateId of ids) {
    const read = partner.onboarding.getCandidate({ params: { onboardingCandidateId } }, { priority: 'live' });
    const answer = await read.catch(unless('NOT_FOUND'));
    // A 404 to this look proves nothing, so the termination is sent all the same.
    if (!terminal.has(String(answer?.data.overallStatus))) return { kind: 'absent' };
  }
  return { kind: 'found', value: null };
}

const terminal: ReadonlySet<string> = new Set(terminalStatuses);

async function enrolmentIds({ store, connection, ref, row }: HireContext): Promise<string[]> {
  const enrolling = await latestIntent(store, ref, `enrol:${row.enrolment}`);
  const live = liveEnrolment(row.onboarding_candidate_id, enrolling);
  if (live.kind === 'none') return [];
  if (live.kind === 'known') return [live.onboardingCandidateId];
  if (live.kind === 'wait') throw underWay(ref, live.waitMs);
  const hits = await findEnrolments(connection, enrolmentReference(ref, row.enrolment));
  const own: string[] = [];
  // Tenants of one company write the same reference, so an enrolment of another hire must not be ended here.
  for (const { onboardingCandidateId: id } of hits)
    if ((await holderBeside({ store, ref }, id)) === undefined) own.push(id);
  return own;
}

function underWay(ref: HireRef, waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'OUTCOME_UNKNOWN',
    action: 'unknown',
    message:
      `A request for job candidate ${ref.jobCandidateId} may still be under way. ` +
      'The hire is cancelled after its deadline.',
    retryAfterMs: waitMs + 50,
  });
}
