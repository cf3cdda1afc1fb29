import { createHmac, randomUUID } from 'node:crypto';
import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { Employee, EmployeeFields, KnownEmployee } from '../../src/hire/employee.ts';
import { followedStates, type HireRef, isSameHire, nameHire } from '../../src/hire/hire.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import type { CreateResult } from '../../src/hris/port.ts';
import type { PersonEvent, Refusal } from '../../src/person/change-person.ts';
import type { Employed, Person } from '../../src/person/person.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { employeeOf, findHireRow } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { settleCreating } from '../../src/store/people.ts';
import { changePerson, findPerson, foreseePerson, type Outcome } from '../../src/store/persons.ts';
import { latestPlan } from '../../src/store/plans.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { identityKeys, isFormer } from './read-employee.ts';
import { type HireContext, personOf, REHIRE_VERB } from './with-hire.ts';
import type { Once } from './write-once.ts';

/*
 * What a hire asks of its person (`src/person`): whether it may look up and make their employee, that nobody of the
 * same keys is made meanwhile, and whether somebody else has them by now.
 */

interface Claimed {
  verdict: 'claimed';
  /** The newest employee that another hire linked to the person. */
  before: Employed | undefined;
}

/** Takes the right to look up, make or link this person, or asks what this hire is to them. */
export async function claimPerson(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  const { store, connection } = hire;
  const whose = personOf(connection.tenant, candidateId);
  const event = holdBy(hire);
  const first = await changePerson(store, whose, event);
  if (!(await isToldOf(hire, first))) return claimedOr(hire, first);
  const { version } = first.person;
  return claimedOr(hire, await changePerson(store, whose, asTransfer(event), { version }));
}

/** What taking it would come to; nothing is taken. */
export async function foreseeClaim(hire: HireContext, candidateId: string): Promise<Claimed | Held> {
  const { store, connection } = hire;
  const whose = personOf(connection.tenant, candidateId);
  const event = holdBy(hire);
  const first = await foreseePerson(store, whose, event);
  if (!(await isToldOf(hire, first))) return claimedOr(hire, first);
  return claimedOr(hire, await foreseePerson(store, whose, asTransfer(event)));
}

type Hold = Extract<PersonEvent, { kind: 'hold' }>;

function holdBy(hire: HireContext): Hold {
  const { ref, decisions, connection } = hire;
  const company = companyScope(connection.tenant);
  return { kind: 'hold', hire: ref, decided: decisions, isUnderWay: isUnderWay(hire), company };
}

/**
 * All HR systems of a company of the partner; undefined where the tenant names none. Companies of two environments, or
 * of two servers, have nothing in common but their numbers.
 */
function companyScope({ partner: { company, environment, baseUrl } }: Tenant): string | undefined {
  return company === undefined ? undefined : `* ${environment} ${new URL(baseUrl).origin}`;
}

/** Of a create that has left or an employee who is there, nobody is asked whether there is to be one. */
function isUnderWay({ row, creation }: HireContext): boolean {
  return row.employee_id !== null || creation?.outcome === 'open' || creation?.outcome === 'done';
}

function asTransfer(event: Hold): Hold {
  return { ...event, decided: { ...event.decided, person: 'transfer' } };
}

function claimedOr({ ref }: HireContext, { person, refusal }: Outcome): Claimed | Held {
  if (refusal === undefined) return { verdict: 'claimed', before: othersOf(person, ref)[0] };
  if (refusal.reason === 'changed') throw changedMeanwhile(ref);
  return heldAs(ref, refusal);
}

/** The question that a refusal is to a person. */
function heldAs(ref: HireRef, refusal: Refusal): Held {
  const { jobCandidateId } = ref;
  switch (refusal.reason) {
    case 'elsewhere':
      return held('PERSON_HIRED_ELSEWHERE', { jobCandidateId, other: refusal.other });
    case 'recorded':
      return held('PERSON_RECORDED', { jobCandidateId, other: refusal.other });
    case 'hired-before':
      return held('PERSON_HIRED_BEFORE', { jobCandidateId, other: refusal.other });
    case 'being-hired':
    case 'creating':
      return held('PERSON_BEING_HIRED', { jobCandidateId, other: refusal.other });
    case 'of-another':
      return heldByAnother(ref, refusal.other);
    case 'over':
      throw isOver(ref);
  }
}

/** Two hires may have found the employee at once: it stays with the first. */
export function heldByAnother({ jobCandidateId }: HireRef, { employee, hire: other }: Employed): Held {
  return held('EMPLOYEE_OF_ANOTHER', { jobCandidateId, employeeIds: [employee.id], other });
}

function othersOf({ employees }: Person, ref: HireRef): Employed[] {
  return employees.filter((one) => !isSameHire(one.hire, ref));
}

/** Whether nobody need be asked what this hire is to the person: a rehire, or the move that somebody told of. */
async function isToldOf(hire: HireContext, { person, refusal }: Outcome): Promise<boolean> {
  const others = othersOf(person, hire.ref);
  const [before] = others;
  if (refusal?.reason !== 'hired-before' || before === undefined || others.length > 1) return false;
  if (await isMoved(hire, before)) return true;
  if (hire.connection.hris.employees.rehire === undefined) return false;
  // An HR system may show somebody who was rehired as former until their first day.
  if (await isRehiredAlready(hire.store, before.hire)) return false;
  if (await isSharedBeside(hire, before)) return false;
  return isFormer(hire, before.employee);
}

/** A hire that goes on made this person an active employee again. */
async function isRehiredAlready(store: Store, before: HireRef): Promise<boolean> {
  if ((await latestIntent(store, before, REHIRE_VERB))?.outcome !== 'done') return false;
  const state = (await findHireRow(store, before))?.state;
  return state === 'open' || state === 'done';
}

/** Whether somebody said of the hire that has the employee that its person moves to another job. */
async function isMoved(hire: HireContext, before: Employed): Promise<boolean> {
  if (before.hire.tenantId !== hire.ref.tenantId) return false;
  if ((await answersOf(hire.store, before.hire)).at(-1)?.answer !== 'moved') return false;
  return !(await isSharedBeside(hire, before));
}

/** A third hire that goes on has the employee, too: nobody said which of them this one takes over from. */
function isSharedBeside({ store, ref }: HireContext, { employee, hire }: Employed): Promise<boolean> {
  return hasSuccessor(store, employee, { besides: [ref, hire], states: followedStates });
}

/** The person went to another hire that is not over, of whichever tenant, and the employee with them. */
export async function isTakenOver({ store, ref, row }: HireContext): Promise<boolean> {
  const employee = employeeOf(row);
  if (row.candidate_id === null || employee === undefined) return false;
  const { owner } = await findPerson(store, { employee });
  if (owner === undefined || isSameHire(owner, ref)) return false;
  const holder = await findHireRow(store, owner);
  return holder?.employee_id === row.employee_id && holder.connection === row.connection && holder.state !== 'left';
}

/** Another hire that is not over has this employee too: an earlier job of theirs, or another candidate who is they. */
export function isShared({ store, ref }: HireContext, employee: Employee): Promise<boolean> {
  return hasSuccessor(store, employee, { besides: [ref], states: followedStates });
}

/**
 * Looks and creates while no other hire makes somebody of the same e-mail, or of the same name and birth date. The
 * partner may have one human as two candidates; hired at once, each would be looked up before the other is there. Where
 * somebody over there finishes the other create, that may take days: a hold names it.
 */
export async function whileNobodyElse(
  hire: HireContext,
  fields: EmployeeFields,
  create: () => Promise<Once<CreateResult<KnownEmployee>>>,
): Promise<Once<CreateResult<KnownEmployee>> | Held> {
  const { store, ref } = hire;
  const holder = randomUUID();
  const waits = await keepOthersOut(hire, fields, holder);
  if (waits !== undefined) return waits;
  try {
    const once = await create();
    // Of one that left and is not found nothing is known, and a pending one goes on; who was made is linked.
    if (once.kind === 'refused') await settleCreating(store, ref, 0, holder);
    return once;
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown') await settleCreating(store, ref, 0, holder);
    throw error;
  }
}

/** Keeps others out while a create is pending, also one that was sent by a version that kept nobody out. */
export async function keepOutWhilePending(hire: HireContext): Promise<void> {
  const { change = 'purged' } = (await latestPlan(hire.store, hire.ref)) ?? {};
  if (change === 'purged' || change.kind !== 'create') return;
  try {
    await keepOthersOut(hire, change.fields, randomUUID());
  } catch (error) {
    // Another hire of this person creates already: this one's create cannot be taken back for that.
    if (!isConnectorError(error, 'IDENTITY_LEASED')) throw error;
  }
}

/** The hold of a hire that waits for another one's pending create. @throws ConnectorError IDENTITY_LEASED */
async function keepOthersOut(hire: HireContext, fields: EmployeeFields, holder: string): Promise<Held | undefined> {
  const { store, ref, row, connection, deps } = hire;
  const keys = keysFor(store, fields);
  if (keys.length === 0) return undefined;
  // A request leaves within two deadlines of the reading, and is over within another one; then reads may lag.
  const forMs = 3 * deps.limits.giveUpMs + connection.hris.capabilities.readLagMs;
  const whose = personOf(connection.tenant, row.candidate_id ?? '');
  const { refusal } = await changePerson(store, whose, { kind: 'create', hire: ref, keys, holder, forMs });
  if (refusal === undefined) return undefined;
  if (refusal.reason !== 'creating') throw changedMeanwhile(ref);
  if (refusal.isPending) return heldAs(ref, refusal);
  throw beingMade(refusal);
}

/** Hashes, never what they were made of. */
function keysFor({ installationId }: Store, fields: EmployeeFields): string[] {
  return identityKeys(fields).map((key) => {
    const words = key.by === 'email' ? [key.value] : [key.givenName, key.familyName, key.birthDate];
    return createHmac('sha256', installationId)
      .update(JSON.stringify([key.by, ...words.map(folded)]))
      .digest('base64url');
  });
}

/** As the kinds compare them. */
function folded(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

function beingMade({ other, waitMs }: Extract<Refusal, { reason: 'creating' }>): ConnectorError {
  return new ConnectorError({
    code: 'IDENTITY_LEASED',
    action: 'retry',
    message:
      `Somebody of the same e-mail, or of the same name and birth date, is being created by ${nameHire(other)}. ` +
      'Nothing is created before the HR system shows what became of that; then this hire goes on by itself. ' +
      'If it does not, see what that hire waits for.',
    retryAfterMs: Math.ceil(waitMs) + 50,
    details: { other, pending: false },
  });
}

/** Said by a worker that stood still; nobody waits for its word. */
function isOver({ jobCandidateId }: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_OVER',
    action: 'retry',
    message: `The hire of job candidate ${jobCandidateId} ended while this worker stood still.`,
  });
}

function changedMeanwhile({ jobCandidateId }: HireRef): ConnectorError {
  return new ConnectorError({
    code: 'PERSON_CHANGED',
    action: 'retry',
    message: `Another hire of the person of job candidate ${jobCandidateId} changed what is known. It is read again.`,
    retryAfterMs: 0,
  });
}
