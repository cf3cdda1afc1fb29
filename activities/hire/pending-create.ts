import { type ConnectorError, isConnectorError } from '../../src/errors.ts';
import { undecided } from '../../src/hire/answers.ts';
import { allFields, type Employee, type KnownEmployee } from '../../src/hire/hire.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import { type HoldCode, held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import { withoutValues } from '../../src/hris/records.ts';
import type { Employed } from '../../src/person/person.ts';
import { lastAnswered, lastAnsweredAt } from '../../src/store/holds.ts';
import { latestIntent, type OpenIntent, refuseMade } from '../../src/store/intents.ts';
import { readKept } from '../../src/store/open-store.ts';
import { settleCreating, TAKEN_OVER } from '../../src/store/people.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { keepOutWhilePending } from './ask-person.ts';
import { findByReference, hasOtherName, readEmployee } from './read-employee.ts';
import { CREATE_VERB, type HireContext, personOf, REHIRE_VERB, reread } from './with-hire.ts';

/** What a create made, or is still to make. */
export type Created = CreateResult<KnownEmployee>;
type MadeNow = Extract<Created, { kind: 'created' }>;
type Waiting = Extract<Awaited<ReturnType<HireActivities['employ']>>, { verdict: 'pending' | 'hold' | 'stale' }>;

export const READ_MS = 30_000;
const DAY_MS = 86_400_000;
const HOLD = 'EMPLOYEE_PENDING';
const OF_ANOTHER = 'EMPLOYEE_OF_ANOTHER' satisfies HoldCode;
/** How every kind of HR system begins the other side's words in a message. */
const THEIR_WORDS = ' It said: ';

/** Asks for the outcome. A rejected create counts as refused, so that a corrected one may follow. */
export async function resolvePending(hire: HireContext, ticket: string): Promise<MadeNow | Waiting> {
  const now = await reread(hire);
  const { creation } = now;
  await keepOutWhilePending(hire);
  try {
    const result = await hire.connection.hris.pending?.resolve(ticket, AbortSignal.timeout(READ_MS));
    if (result?.kind === 'created') return await ofThisRequest(now, ticket, result);
    const overdue = creation === undefined ? undefined : await heldWhenOverdue(hire, creation, ticket);
    return overdue ?? { verdict: 'pending', nextCheckMs: result?.nextCheckMs ?? 60_000 };
  } catch (error) {
    if (creation !== undefined && isConnectorError(error, 'REQUEST_UNKNOWN'))
      return lostRequest(now, creation, { ticket, employeeIds: [] });
    if (creation !== undefined && isConnectorError(error, 'HIRE_REJECTED')) {
      // Once the create counts as refused, nothing asks for the reason again.
      const rejected = await withoutTheirValues(hire, error);
      await refuseMade(hire.store, creation, { code: error.code });
      await settleCreating(hire.store, hire.ref);
      throw rejected;
    }
    throw error;
  }
}

/** The employee that a finished request names, unless their record has another reference than the one we asked for. */
async function ofThisRequest(hire: HireContext, ticket: string, made: MadeNow): Promise<MadeNow | Waiting> {
  const { creation, connection } = hire;
  const { storesReference, mayHideReference = false } = connection.hris.capabilities;
  const reference = creation && pinnedReference(creation);
  if (creation === undefined || reference === undefined || !storesReference) return made;
  const shown = await readEmployee(connection.hris, made.ref);
  const isHidden = shown?.reference === undefined && mayHideReference;
  if (shown === undefined || isHidden || shown.reference === reference) return made;
  return lostRequest(hire, creation, { ticket, employeeIds: [made.ref.id] });
}

/**
 * A request that the HR system no longer knows, or for which it names somebody else, may have made the employee all the
 * same. Unless one is found by our reference, a person is asked; `create` counts only for the attempt it was said of.
 */
async function lostRequest(
  { deps, store, ref, connection, decisions }: HireContext,
  creation: OpenIntent,
  about: { ticket: string; employeeIds: string[] },
): Promise<MadeNow | Waiting> {
  const reference = pinnedReference(creation);
  const found = reference === undefined ? undefined : await findByReference({ deps, connection }, reference);
  if (found !== undefined) return { kind: 'created', ref: found };
  const { attempt, now, decided_at, sent_at } = creation;
  const nextCheckMs = Number(decided_at ?? sent_at) + connection.hris.capabilities.readLagMs - now;
  if (nextCheckMs > 0) return { verdict: 'pending', nextCheckMs };
  if (!decisions.neverHappened.has(attempt))
    return held('REQUEST_LOST', { jobCandidateId: ref.jobCandidateId, attempt, ...about });
  await refuseMade(store, creation, { code: 'REQUEST_LOST' });
  await settleCreating(store, ref);
  return { verdict: 'stale' };
}

/** Our reference that the create sent; undefined if it was purged. */
export function pinnedReference({ pinned }: Pick<OpenIntent, 'pinned'>): string | undefined {
  const kept = readKept<{ reference: string }>(pinned);
  return kept === 'purged' ? undefined : kept.reference;
}

/** What a create came to whose outcome is known. */
export function madeBy({ outcome, result }: Pick<OpenIntent, 'outcome' | 'result'>): Created | undefined {
  return outcome === 'done' ? ((JSON.parse(result ?? 'null') as Created | null) ?? undefined) : undefined;
}

/** The id of the employee whom a create made at once. */
export function madeId(creation: OpenIntent | undefined): string | undefined {
  const made = creation && madeBy(creation);
  return made?.kind === 'created' ? made.ref.id : undefined;
}

/** For a rejection whose reason is not known or must not be shown. */
export const REJECTED_UNSAID = 'The HR system rejected the new employee. Ask the people there why.';

/** A kind that is asked later no longer knows the sent values, and the HR system's words may quote them. */
async function withoutTheirValues({ store, ref }: HireContext, error: ConnectorError): Promise<ConnectorError> {
  const { change = 'purged' } = (await latestPlan(store, ref)) ?? {};
  const told =
    change === 'purged' || change.kind === 'link'
      ? { message: REJECTED_UNSAID }
      : cutWords(error.message, Object.values(allFields(change)));
  return error.but(told);
}

/** Our own words come before theirs and quote nobody; if nothing separates the two, all of them may be theirs. */
function cutWords(message: string, sent: readonly unknown[]): { message: string; said: string } {
  const at = message.indexOf(THEIR_WORDS);
  const own = at === -1 ? 'The HR system rejected the new employee.' : message.slice(0, at);
  const said = withoutValues(at === -1 ? message : message.slice(at + THEIR_WORDS.length), sent);
  return { message: `${own}${THEIR_WORDS}${said}`, said };
}

/**
 * The employee of this hire's create or rehire is another person's, and somebody who saw that said that they are not
 * this hire's: the write made nobody, so that another one may follow, or the hire end.
 */
export async function giveBackMade({ store, ref }: HireContext, { id }: Employee): Promise<boolean> {
  const asked = await lastAnswered(store, ref);
  if (asked?.code !== OF_ANOTHER) return false;
  const { employeeIds } = JSON.parse(asked.details) as { employeeIds: string[] };
  const isDenied = asked.answer === 'create' || asked.answer === 'cancel';
  const writes = await Promise.all([CREATE_VERB, REHIRE_VERB].map((verb) => latestIntent(store, ref, verb)));
  const made = writes.find((one) => one?.outcome === 'done');
  if (!isDenied || made === undefined || !employeeIds.includes(id)) return false;
  if (Number(asked.answered_at) < Number(made.decided_at)) return false;
  await refuseMade(store, made, { code: TAKEN_OVER });
  await settleCreating(store, ref);
  return true;
}

/**
 * Whether the HR system gave the id of an employee that it deleted to the one made for this hire: the record has the
 * reference of our create, and not the name of the person who had it.
 */
export async function isMadeAnew(hire: HireContext, { employee, candidate }: Employed): Promise<boolean> {
  const { store, ref, connection, row } = hire;
  if (candidate.company !== personOf(connection.tenant, row.candidate_id ?? '').candidate.company) return false;
  const creation = await latestIntent(store, ref, CREATE_VERB);
  const reference = creation?.outcome === 'done' ? pinnedReference(creation) : undefined;
  const record = await readEmployee(connection.hris, employee);
  if (reference === undefined || record === undefined || record.reference !== reference) return false;
  return hasOtherName({ ...hire, decisions: undecided }, record, candidate.candidateId);
}

/** Opens a hold after the deadline, which starts anew with each answer. */
async function heldWhenOverdue(
  { store, ref, connection }: HireContext,
  { decided_at, sent_at, now }: OpenIntent,
  ticket: string,
): Promise<Waiting | undefined> {
  const since = Math.max(decided_at ?? sent_at, (await lastAnsweredAt(store, ref, HOLD)) ?? 0);
  if (now - since < connection.tenant.policies.pendingDeadline) return undefined;
  const days = Math.floor((now - (decided_at ?? sent_at)) / DAY_MS);
  return held(HOLD, { jobCandidateId: ref.jobCandidateId, ticket, days });
}
