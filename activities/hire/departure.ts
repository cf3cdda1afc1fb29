import { dayOf } from '../../src/day-of.ts';
import { ConnectorError } from '../../src/errors.ts';
import {
  type Employee,
  type HireRef,
  IMPORTED_PERIOD,
  isSameEmployee,
  isSameHire,
  nameHire,
} from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type Held, type HoldCode, type HoldRequest, held, holdOf } from '../../src/hire/holds.ts';
import { judgeDeparture as judge, planCancel } from '../../src/plan/plan-cancel.ts';
import { isRestoredSince } from '../../src/store/backups.ts';
import { addHints } from '../../src/store/hints.ts';
import { endHire, lockHire } from '../../src/store/hire-states.ts';
import {
  employeeOf,
  findHireRow,
  hireBehind,
  noteStaysDone,
  readHireRow,
  reserveCancellation,
} from '../../src/store/hires.ts';
import { answerHold, isAsking, lastAnswered, listHolds } from '../../src/store/holds.ts';
import { latestIntent } from '../../src/store/intents.ts';
import { inTransaction, readClock } from '../../src/store/open-store.ts';
import { changePerson, findPerson } from '../../src/store/persons.ts';
import { latestPlan } from '../../src/store/plans.ts';
import type { HoldRow } from '../../src/store/schema.ts';
import { hiringStagesOf, timezoneOf } from '../../src/tenants/schema.ts';
import type { ActivityDeps } from '../connections.ts';
import { assertKnownCompany } from '../guarded.ts';
import { readPresence } from '../presence/read-presence.ts';
import { isShared } from './ask-person.ts';
import { employeeIdOf, tellWhyHeld, writeEmployeeId } from './finish-hire.ts';
import { isOfAnother, OF_ANOTHER, readEmployee } from './read-employee.ts';
import { readToldId, seePerson } from './read-sources.ts';
import {
  END_VERB,
  enrolmentReference,
  formerHris,
  type HireContext,
  holdWithout,
  noteWrites,
  onceOf,
  personOf,
  withHire,
  withHireOrHeld,
} from './with-hire.ts';
import {
  assertFresh,
  type EarlierOptions,
  type Elapsed,
  type OnceOptions,
  readTooLongAgo,
  settleEarlier,
  writeOnce,
} from './write-once.ts';

const HOUR_MS = 3_600_000;

/** Where the person is now; a single reading, which does not prove absence. */
export function readHire(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['readHire']> {
  return withHire(deps, ref, async (hire) => ({ verdict: await whereNow(hire) }));
}

/** The second reading, followed by a reading, with the same key, of something known to be there. */
export function confirmGone(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['confirmGone']> {
  return withHire(deps, ref, async (hire) => {
    if ((await whereNow(hire)) === 'in') return { verdict: 'here' } as const;
    await assertKnownCompany(hire.store, hire.connection);
    return { verdict: 'gone' } as const;
  });
}

async function whereNow({ store, connection, ref }: HireContext): Promise<'in' | 'out' | 'missing'> {
  const { jobCandidateId } = ref;
  return (await readPresence(store, connection, jobCandidateId, hiringStagesOf(connection.tenant))).verdict;
}

/**
 * A wrong filter or a mass move must not end dozens of hires: beyond the tenant's number per hour, a person decides.
 */
export function allowCancellation(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['allowCancellation']> {
  return withHire(deps, given, async (hire) => {
    const { store, connection, ref } = hire;
    const most = connection.tenant.policies.changeLimits.cancellationsPerHour;
    if (await reserveCancellation(store, ref, { most, windowMs: HOUR_MS })) return { verdict: 'allowed' } as const;
    // A hire with an open question was listed since.
    if (!(await isAsking(store, ref, 'TOO_MANY_CANCELLATIONS'))) await hintReturn(hire);
    return held('TOO_MANY_CANCELLATIONS', { jobCandidateId: ref.jobCandidateId, most });
  });
}

/**
 * Has the next reconcile list the job of a hire that is held because its person left: the last list may have shown them
 * in the stage, and its totals are the same once they are back.
 */
export async function hintReturn({ store, ref, row }: HireContext): Promise<void> {
  if (row.job_id !== null) await addHints(store, ref.tenantId, 'people', [row.job_id]);
}

export async function hasEmployee({ store }: ActivityDeps, ref: HireRef): Promise<boolean> {
  return (await readHireRow(store, ref)).employee_id !== null;
}

export async function describeLeftAfterEmployee({ store }: ActivityDeps, ref: HireRef): Promise<HoldRequest> {
  const { employee_id: employeeId } = await readHireRow(store, ref);
  return holdOf('LEFT_AFTER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeId: employeeId ?? '' });
}

const DAY_MS = 86_400_000;

/** Decides about a finished hire whose person left the stage. */
export function judgeDeparture(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['judgeDeparture']> {
  return withHire(deps, given, async (hire) => {
    const { store, connection, ref } = hire;
    const employee = ownOf(hire);
    if (formerHris(hire) !== undefined)
      return held('LEFT_AFTER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeId: employee.id });
    const judged = await judgeEmployee(hire, employee, await isTakenOver(hire));
    if (judged.verdict === 'hold') return judged;
    // The HR system may have been away for hours since we saw that the person was gone.
    const { presence, sinceRead } = await seePerson(store, connection, ref.jobCandidateId);
    if (presence.verdict === 'in') return staysDone(hire);
    await tellWhyHeld(hire, 'over');
    assertFresh(deps.limits, sinceRead);
    await endDone(hire);
    return judged;
  });
}

/** A person who is back keeps their hire done: another attempt that saw them gone before does not end it any more. */
async function staysDone({ store, ref }: HireContext): Promise<{ verdict: 'back' }> {
  await inTransaction(store, async (open) => {
    await lockHire(open, ref);
    const ending = await latestIntent(open, ref, END_VERB);
    // Another attempt may have sent the ending since this one looked: its outcome comes first.
    if (ending?.outcome === 'open' && ending.give_up_at > ending.now) throw readTooLongAgo();
    await noteStaysDone(open, ref);
  });
  return { verdict: 'back' };
}

/** Ends a hire whose person was seen to have left, unless another attempt has seen them back since. */
async function endDone({ store, ref, row }: HireContext): Promise<void> {
  await inTransaction(store, async (open) => {
    const now = await lockHire(open, ref);
    if (now.state === 'done' && now.updated_at !== row.updated_at) throw readTooLongAgo();
    await endHire(open, ref, 'left', ['done']);
  });
}

/** Whether a person is asked about an employee whose person is gone from the stage. */
export async function judgeEmployee(
  hire: HireContext,
  employee: Employee,
  takenOver: boolean,
): Promise<{ verdict: 'over' } | Held> {
  const { store, connection, ref } = hire;
  const { policies } = connection.tenant;
  const shown = await readEmployee(connection.hris, employee);
  let startDate = shown?.fields['startDate'] ?? undefined;
  if (startDate === undefined) {
    // The start date the employee was made with, for an HR system that does not show it.
    const { change = 'purged' } = (await latestPlan(store, ref)) ?? {};
    if (change !== 'purged' && 'fields' in change) startDate = change.fields['startDate'] ?? undefined;
  }
  return judge({
    jobCandidateId: ref.jobCandidateId,
    employeeId: employee.id,
    startDate,
    former: shown?.former === true,
    takenOver,
    today: dayOf(await readClock(store), timezoneOf(connection.tenant)),
    noShowDays: Math.floor(policies.noShow.within / DAY_MS),
    asked: await isAsked(hire),
  });
}

/**
 * Asks about an employee of whom only the Employee ID on the hire's enrolment tells: the store was lost, or restored
 * from before, and no employee carries the reference. Theirs is that of a candidate whom the partner merged into this
 * one, or HR merged or deleted the record. The person's next hire asks as well.
 */
export async function heldAsTold(hire: HireContext): Promise<Held | undefined> {
  const { store, connection, ref, row, answers } = hire;
  // An enrolment that was made by hand may show the employee of another hire.
  if (row.candidate_id === null || row.onboarding_reference !== enrolmentReference(ref, row.enrolment))
    return undefined;
  // A store that enrolled the person itself, and was not restored since, knows every employee that it made.
  const sent = await latestIntent(store, ref, `enrol:${row.enrolment}`);
  if (sent !== undefined && !(await isRestoredSince(store, row.opened_at))) return undefined;
  const employeeId = await readToldId(hire);
  if (employeeId === undefined) return undefined;
  const as = { ...ref, how: 'baseline' } as const;
  await changePerson(store, personOf(connection.tenant, row.candidate_id), { kind: 'record', as });
  const plan = planCancel({ ...ref, state: row.state, employeeId, answers });
  return 'verdict' in plan ? plan : undefined;
}

const BEFORE_START = 'LEFT_BEFORE_START' satisfies HoldCode;
/** The HR system may be away for days after a person said to look again. */
const LOOK_AGAIN_MS = 7 * DAY_MS;

/** Whether the question was asked in time: it stands, or a person said a short while ago to look again. */
async function isAsked({ store, connection, ref }: HireContext): Promise<boolean> {
  if (await isAsking(store, ref, BEFORE_START)) return true;
  const last = await lastAnswered(store, ref);
  if (last?.code !== BEFORE_START || last.answer !== 'retry') return false;
  const ago = (await readClock(store)) - Number(last.answered_at);
  return ago < LOOK_AGAIN_MS + connection.tenant.policies.cancel.grace;
}

/**
 * If somebody said that the person moved, that answers the question of the hire on the other job. If two jobs ask,
 * nobody said which of them is meant.
 */
export function handOver(deps: ActivityDeps, given: HireRef): ReturnType<HireActivities['handOver']> {
  return withHire(deps, given, async (hire) => {
    const { store, ref } = hire;
    const { tenantId } = ref;
    const by = (await lastAnswered(store, ref))?.answered_by ?? 'hirebridge';
    const asking: HoldRow[] = [];
    for (const hold of await listHolds(store, { tenantId })) {
      if (hold.code !== 'PERSON_HIRED_BEFORE') continue;
      const { other } = JSON.parse(hold.details) as { other: HireRef };
      // A hold that was opened before this hire had the employee names the hire that had the employee then.
      const isHere = other.tenantId === tenantId && other.period !== IMPORTED_PERIOD;
      const row = isHere ? await findHireRow(store, other) : undefined;
      const theirs = row && employeeOf(row);
      const isTheirs = theirs !== undefined && isSameEmployee(theirs, ownOf(hire));
      if (isTheirs || isSameHire(other, ref)) asking.push(hold);
    }
    for (const hold of asking.length === 1 ? asking : []) {
      await answerHold(store, hold.hold_id, { answer: 'transfer', arguments: [], by });
      await deps.signalHire({ tenantId, jobCandidateId: hold.job_candidate_id ?? '' }, 'answer', { start: true });
    }
    await endHire(store, ref, 'left', ['done']);
    return { verdict: 'over' } as const;
  });
}

type Ended = Awaited<ReturnType<HireActivities['endEmployment']>>;

const BACK_BEFORE_ANSWER =
  'The HR system was asked to end it and did not answer; meanwhile the person is back in the hiring stage.';

/**
 * Ends an employment, only on a person's answer. Never ends one of a person who is back in the stage or took another
 * job.
 */
export function endEmployment(deps: ActivityDeps, given: HireRef): Promise<Ended> {
  return withHireOrHeld(
    deps,
    given,
    async (hire): Promise<Ended> => {
      const { ref, row } = hire;
      if (row.state !== 'done') return { verdict: 'over' };
      if (!(await isTakenOver(hire))) {
        const open = await endOnce(hire);
        if (open !== undefined) return open;
        const told = await writeEmployeeId(hire, employeeIdOf(hire), hire.connection.tenant.writeBack.leftStatus);
        if (told.verdict === 'hold') return told;
      }
      await endDone(hire);
      deps.log.info(ref, 'employment ended');
      return { verdict: 'over' };
    },
    'after-employee',
  );
}

/** Whether person and employee went to another hire that is not over, in any tenant. */
async function isTakenOver({ store, ref, row }: HireContext): Promise<boolean> {
  const employee = employeeOf(row);
  if (row.candidate_id === null || employee === undefined) return false;
  const { owner } = await findPerson(store, { employee });
  if (owner === undefined || isSameHire(owner, ref)) return false;
  const holder = await findHireRow(store, owner);
  return holder?.employee_id === row.employee_id && holder.connection === row.connection && holder.state !== 'left';
}

/**
 * Outcome of an earlier ending; one that happened stays, no matter where the person is now. An HR system may not show a
 * last day in the future, so the outcome of a request without an answer is then unknown.
 */
async function whatBecameOfIt(hire: HireContext): Promise<'ended' | 'unknown' | 'nothing'> {
  if (hire.decisions.endedByHand === true) return 'ended';
  const latest = await latestIntent(hire.store, hire.ref, END_VERB);
  if (latest === undefined || latest.outcome === 'refused') return 'nothing';
  const settled = await settleEarlier(earlierEnd(hire));
  if (settled.kind === 'adopted') return 'ended';
  return latest.outcome === 'open' ? 'unknown' : 'nothing';
}

/** Returns undefined once the employment has ended. */
async function endOnce(hire: HireContext): Promise<Ended | undefined> {
  const { store, connection, ref } = hire;
  const elsewhere = formerHris(hire);
  if (elsewhere !== undefined && hire.decisions.endedByHand !== true)
    return notEnded(hire, `They are in the HR system "${elsewhere}", which this tenant no longer has.`);
  const earlier = await whatBecameOfIt(hire);
  if (earlier === 'ended') return undefined;
  const { presence, sinceRead } = await seePerson(store, connection, ref.jobCandidateId);
  if (presence.verdict !== 'in') return end(hire, sinceRead);
  return earlier === 'unknown' ? notEnded(hire, BACK_BEFORE_ANSWER) : staysDone(hire);
}

async function end(hire: HireContext, sinceRead: Elapsed): Promise<Held | undefined> {
  const { hris } = hire.connection;
  const shown = await readEmployee(hris, ownOf(hire));
  if (shown !== undefined && (await isOfAnother(hire, shown.ref, shown))) return notEnded(hire, OF_ANOTHER);
  if (shown?.former === true) return undefined;
  if (await isShared(hire, ownOf(hire))) return notEnded(hire, 'Another hire uses it too.');
  if (hris.employees.terminate === undefined)
    return notEnded(hire, 'hirebridge cannot end employments in this HR system.');
  const start = shown?.fields['startDate'];
  const lastDay =
    typeof start === 'string' ? start : dayOf(await readClock(hire.store), timezoneOf(hire.connection.tenant));
  const once = await writeOnce(termination(hire, { lastDay, sinceRead }));
  if (once.kind !== 'refused') return undefined;
  return holdWithout(hire.store, hire.ref, once.error, (said) => notEnded(hire, said));
}

function earlierEnd(hire: HireContext): EarlierOptions<null> {
  return {
    ...onceOf(hire, END_VERB),
    // Not every kind shows a last day in the future; sending the same ending again is harmless.
    async look() {
      const shown = await readEmployee(hire.connection.hris, ownOf(hire));
      return shown?.former === true ? { kind: 'found', value: null } : { kind: 'absent' };
    },
  };
}

/** The first day is also the last day, because HR systems refuse an end before the start. */
function termination(
  hire: HireContext,
  { lastDay, sinceRead }: { lastDay: string; sinceRead: Elapsed },
): OnceOptions<null, { lastDay: string }> {
  const { connection, deps } = hire;
  const employee = ownOf(hire);
  return {
    ...earlierEnd(hire),
    state: 'done',
    readAt: hire.row.updated_at,
    pinned: () => ({ lastDay }),
    giveUpMs: deps.limits.giveUpMs,
    sinceRead,
    note(pinned, intent) {
      const changes = { lastDay: { new: pinned.lastDay } };
      const write = { target: 'employee', foreignId: employee.id, kind: 'end' as const, changes, sensitive: [] };
      return noteWrites(hire, [write], intent);
    },
    async send(pinned, guard) {
      // A hire that takes the employee over after this intent was written waits for its outcome; one before shows now.
      if (await isShared(hire, employee)) throw takenOver(hire, employee);
      await connection.hris.employees.terminate?.(employee, pinned.lastDay, guard);
      return null;
    },
  };
}

function takenOver({ ref }: HireContext, { id }: Employee): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_TAKEN_OVER',
    action: 'retry',
    message:
      `Employee ${id} is not ended for ${nameHire(ref)}: meanwhile another hire has them too. Nothing was sent, and ` +
      'this hire decides again by itself.',
    retryAfterMs: 0,
  });
}

function ownOf({ row, ref }: HireContext): Employee {
  const employee = employeeOf(row);
  if (employee === undefined) throw hireBehind(ref);
  return employee;
}

function notEnded({ ref, row }: HireContext, said: string): Held {
  const { jobCandidateId } = ref;
  return held('EMPLOYMENT_NOT_ENDED', { jobCandidateId, employeeId: row.employee_id ?? '', said });
}
