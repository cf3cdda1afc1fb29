import { dayOf } from '../../src/day-of.ts';
import { ConnectorError } from '../../src/errors.ts';
import {
  type Employee,
  type EmployeeFields,
  employeeIn,
  type FindKey,
  followedStates,
  type HireRef,
  isSameEmployee,
  isSameHire,
  type KnownEmployee,
  nameHire,
} from '../../src/hire/hire.ts';
import type { HrisCapabilities } from '../../src/hris/port.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type Finding, isSameName, nameOfCandidate, nameOfEmployee } from '../../src/plan/identity-ladder.ts';
import { isRestoredSince } from '../../src/store/backups.ts';
import { hasSuccessor } from '../../src/store/hire-states.ts';
import { openHire } from '../../src/store/hires.ts';
import { latestIntent, type OpenIntent, refusalOf } from '../../src/store/intents.ts';
import { inTransaction, readKept, type Store } from '../../src/store/open-store.ts';
import { TAKEN_OVER } from '../../src/store/people.ts';
import type { Subject } from '../../src/store/person-data.ts';
import { findPerson } from '../../src/store/persons.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { timezoneOf } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import type { OwnHris, OwnRecord } from '../own-hris.ts';
import { CREATE_VERB, END_VERB, employeeReference, type HireContext, REHIRE_VERB } from './with-hire.ts';
import type { Elapsed } from './write-once.ts';

const READ_MS = 30_000;

/** The employee as the HR system shows it now; undefined if it shows none. */
export function readEmployee({ employees }: OwnHris, employee: Employee): Promise<OwnRecord | undefined> {
  return employees.read(employee, AbortSignal.timeout(READ_MS));
}

export const OF_ANOTHER =
  'The record with this id no longer has the reference that hirebridge gave it, so it may be somebody else by now. ' +
  'Check whether the HR system was restored, or its credentials belong to another account.';

/**
 * Whether the reference of a record that had one shows that it is somebody else's by now: an id may mean another person
 * after a restore in the HR system, or with the credentials of another account. False where nobody can tell. `isOwn`
 * judges a reference without the hire that it may name.
 */
export function isStranger(
  { storesReference, mayHideReference = false }: HrisCapabilities,
  reference: string | undefined,
  isOwn: (person: string) => boolean,
): boolean {
  if (!storesReference) return false;
  return reference === undefined ? !mayHideReference : !isOwn(personIn(reference));
}

/** The same for an employee that hirebridge made, no matter which hire has them now; false for any other. */
export async function isOfAnother(
  { store, connection: { hris } }: Pick<HireContext, 'store' | 'connection'>,
  employee: Employee,
  { reference }: Pick<OwnRecord, 'reference'>,
): Promise<boolean> {
  if (!isStranger(hris.capabilities, reference, () => false)) return false;
  const { employees, candidates } = await findPerson(store, { employee });
  const known = employees.find((one) => isSameEmployee(one.employee, employee));
  if (known?.how !== 'made') return false;
  const creation = await latestIntent(store, known.hire, CREATE_VERB);
  const pinned = creation?.outcome === 'done' ? readKept<{ reference: string }>(creation.pinned) : 'purged';
  const { tenantId } = known.hire;
  // Until it names a company, a tenant is its own: the references that it gave until then keep that name.
  const own = candidates.flatMap(({ company, candidateId: id }) => [`${company}:${id}`, `${tenantId}:${id}`]);
  if (pinned !== 'purged') own.push(personIn(pinned.reference));
  return isStranger(hris.capabilities, reference, (person) => own.includes(person));
}

/** The same where only a person's ids are left, as in an erasure. */
export function isStrangerTo(
  { companies, candidates }: Pick<Subject, 'companies' | 'candidates'>,
  { made = false }: Subject['employees'][number],
  { hris }: Connection,
  { reference }: Pick<OwnRecord, 'reference'>,
): boolean {
  const own = companies.flatMap((company) => candidates.map((id) => `${company}:${id}`));
  return made && isStranger(hris.capabilities, reference, (person) => own.includes(person));
}

/** Company and candidate: a further employment has the person's reference and more. */
export function personIn(reference: string): string {
  return reference.split(':', 2).join(':');
}

/** Why an employee who was not read yet is another one now; undefined if not. */
export async function becameAnother(
  { deps, connection }: Pick<HireContext, 'deps' | 'connection'>,
  employee: Employee,
): Promise<string | undefined> {
  const shown = await readEmployee(connection.hris, employee);
  const at = { store: deps.store, connection };
  return shown !== undefined && (await isOfAnother(at, employee, shown)) ? OF_ANOTHER : undefined;
}

/**
 * Whether the employee that a person named has another name than the candidate, and nothing else says that they are the
 * same human: neither our reference nor a person who saw the two.
 */
export async function hasOtherName(
  { connection, row, decisions }: Pick<HireContext, 'connection' | 'row' | 'decisions'>,
  { ref: { id }, reference, fields }: OwnRecord,
  candidateId = row.candidate_id ?? '',
): Promise<boolean> {
  if (decisions.linkAnyway === id || decisions.samePerson === id) return false;
  if (reference !== undefined && personIn(reference) === employeeReference(connection.tenant, candidateId))
    return false;
  const body = { candidateIds: [candidateId] };
  const { items } = await connection.partner.readAll(contract.candidates.bulkFetch, { body }, { priority: 'live' });
  return !isSameName({ name: nameOfEmployee(fields) }, { name: nameOfCandidate(items[0]) });
}

/** Whether the HR system says that the employment is over. */
export async function isShownFormer({ connection }: HireContext, employee: Employee): Promise<boolean> {
  return (await readEmployee(connection.hris, employee))?.former === true;
}

/** What a rehire pins. `shown`: the HR system showed a former employee before, so an active one proves the rehire. */
export interface PinnedRehire {
  employeeId: string;
  shown: boolean;
}

/** This hire's newest attempt to make a former employee active. */
export function latestRehire({ store, ref }: HireContext): Promise<OpenIntent | undefined> {
  return latestIntent(store, ref, REHIRE_VERB);
}

/** A rehire that may have made this employee active. */
export interface SentRehire {
  employee: Employee;
  /** It was to be sent again, because no look showed it. That proves nothing: their first day may be ahead. */
  isLost: boolean;
}

/**
 * The rehire that this hire sent; undefined if it made nobody active, or somebody said since that this employee is
 * another person.
 */
export async function sentRehire(hire: HireContext): Promise<SentRehire | undefined> {
  const intent = await latestRehire(hire);
  if (intent === undefined || intent.outcome === 'refused') return undefined;
  const isLost = intent.outcome === 'absent';
  // One that did not leave has the code of an error.
  if (isLost && intent.result !== 'null') return undefined;
  const pinned = readKept<PinnedRehire>(intent.pinned);
  if (pinned === 'purged' || hire.decisions.notThese.has(pinned.employeeId)) return undefined;
  return { employee: employeeIn(hire.connection.tenant.hris.connection, pinned.employeeId), isLost };
}

/**
 * Whether this is a former employee: the HR system says so, this hire is about to reactivate them, or we ended the
 * employment ourselves with a last day that may still be ahead.
 */
export async function isFormer(hire: HireContext, employee: Employee): Promise<boolean> {
  const rehire = await sentRehire(hire);
  if (rehire?.isLost === false && rehire.employee.id === employee.id) return true;
  const shown = await readEmployee(hire.connection.hris, employee);
  const isLeaver = shown?.former === true && !(await isOfAnother(hire, employee, shown));
  return isLeaver || (await endedByUs(hire, employee)) !== undefined;
}

/**
 * Whether the employment that we ended is still over, though its last day may be ahead, for a hire that sent no rehire.
 * After a restore, earlier writes may be unknown, including one by which this hire made them active again.
 */
export async function isStillEndedByUs(hire: HireContext, employee: Employee): Promise<boolean> {
  const end = await endedByUs(hire, employee);
  return end !== undefined && !(await isRestoredSince(hire.store, Number(end.decided_at)));
}

/** The other hire that has this employee. */
async function hireWith({ store, ref }: HireContext, employee: Employee): Promise<HireRef | undefined> {
  const { employees } = await findPerson(store, { employee });
  const holder = employees.find((one) => isSameEmployee(one.employee, employee))?.hire;
  return holder === undefined || isSameHire(holder, ref) ? undefined : holder;
}

/** Our ending of another hire's employment with this employee, while the HR system may not show it. */
async function endedByUs(hire: HireContext, employee: Employee): Promise<OpenIntent | undefined> {
  const before = await hireWith(hire, employee);
  const end = before && (await latestIntent(hire.store, before, END_VERB));
  if (before === undefined || end?.outcome !== 'done') return undefined;
  const pinned = readKept<{ lastDay: string }>(end.pinned);
  const { readLagMs, shownWithinMs = readLagMs } = hire.connection.hris.capabilities;
  const isShown = end.now - Number(end.decided_at) >= shownWithinMs;
  // Once the last day has passed and the HR system shows it, or the day is no longer known, the HR system decides.
  if (pinned === 'purged' || (pinned.lastDay < dayOf(end.now, timezoneOf(hire.connection.tenant)) && isShown))
    return undefined;
  const besides = [hire.ref, before];
  const isShared = await hasSuccessor(hire.store, employee, { besides, states: followedStates });
  return isShared ? undefined : end;
}

/**
 * Links the employee, unless the hire that had them ended their employment after they were read: two answers, a no-show
 * there and another job here, may be carried out at once. Undefined if they were ended.
 * @throws ConnectorError EMPLOYEE_BEING_ENDED while the outcome of that end is open
 */
export function unlessEnded<T>(
  hire: HireContext,
  { employee, sinceRead }: { employee: Employee; sinceRead: Elapsed | undefined },
  link: (store: Store) => Promise<T>,
): Promise<T | undefined> {
  // A hire that has the employee keeps the other one from ending them.
  if (sinceRead === undefined || hire.row.employee_id !== null) return link(hire.store);
  return inTransaction(hire.store, async (store) => {
    const before = await hireWith({ ...hire, store }, employee);
    if (before !== undefined && (await isEndedSince(store, { before, employee, sinceRead }))) return undefined;
    return link(store);
  });
}

async function isEndedSince(
  store: Store,
  { before, employee, sinceRead }: { before: HireRef; employee: Employee; sinceRead: Elapsed },
): Promise<boolean> {
  // The same lock that the intent of an end takes: an end that begins later finds the link, and sends nothing.
  const done = await openHire(store, before, 'done').select('hires.state').execute();
  const end = await latestIntent(store, before, END_VERB);
  if (end === undefined) return false;
  // That hire looks up what became of its end, unless nothing continues it.
  const isSettled = done.length === 0 || (await readTenantState(store, before.tenantId)).state === 'removed';
  if (end.outcome === 'open' && !(isSettled && end.give_up_at <= end.now))
    throw new ConnectorError({
      code: 'EMPLOYEE_BEING_ENDED',
      action: 'retry',
      message:
        `The employment of employee ${employee.id} is being ended for ${nameHire(before)}. This hire goes on by ` +
        'itself once the outcome is known.',
      retryAfterMs: 2_000,
    });
  return end.outcome === 'done' && Number(end.decided_at) >= end.now - sinceRead();
}

/** The employee with this reference; undefined if there is none, or if the HR system stores no references. */
export async function findByReference(at: Searched, value: string): Promise<KnownEmployee | undefined> {
  const { hris } = at.connection;
  if (!hris.capabilities.storesReference) return undefined;
  const found = await hris.employees.find({ by: 'reference', value }, AbortSignal.timeout(searchMs(at)));
  return found.kind === 'one' ? found.ref : undefined;
}

const emailFields = ['workEmail', 'email', 'personalEmail'];

type Searched = Pick<HireContext, 'deps' | 'connection'>;

/** How long a search may take, ms: some HR systems can only list everybody, and a create waits for two such lists. */
export function searchMs({ deps }: Pick<HireContext, 'deps'>): number {
  return Math.max(READ_MS, deps.limits.giveUpMs);
}

/**
 * Searches the HR system for a person along the identity ladder, by all keys at once: an HR system that can only list
 * everybody is read once for all of them. One after another, they would take longer than what was read is good for.
 */
export async function readFindings(at: Searched, reference: string, fields: EmployeeFields): Promise<Finding[]> {
  const { hris, tenant } = at.connection;
  const signal = AbortSignal.timeout(searchMs(at));
  const keys = [
    { by: 'reference', value: reference } as const,
    ...identityKeys(fields),
    ...namesakeKeys(tenant, fields),
  ];
  const asked = await Promise.allSettled(keys.map((key) => hris.employees.find(key, signal)));
  const findings: Finding[] = [];
  for (const [index, { by }] of keys.entries()) {
    if (by === 'name' && findings.some(({ found }) => found.kind !== 'none')) break;
    const answer = asked[index];
    if (answer?.status !== 'fulfilled') throw answer?.reason;
    findings.push({ by, found: answer.value });
    // A hit by our own reference is decisive; later rungs cannot contradict it.
    if (by === 'reference' && answer.value.kind === 'one') break;
  }
  return findings;
}

/** The key that finds namesakes, if the tenant asks about them. */
export function namesakeKeys({ policies }: Connection['tenant'], fields: EmployeeFields): FindKey[] {
  const { name, familyName, givenName, birthDate } = fields;
  const born = typeof birthDate === 'string' ? { birthDate } : {};
  if (policies.identity.sameName !== 'ask') return [];
  if (typeof name === 'string') return [{ by: 'name', fullName: name, ...born }];
  if (typeof familyName !== 'string' || typeof givenName !== 'string') return [];
  return [{ by: 'name', fullName: `${givenName} ${familyName}`, parts: { familyName, givenName }, ...born }];
}

/** Keys that identify a human, no matter who hires them. */
export function identityKeys(fields: EmployeeFields): Extract<FindKey, { by: 'email' | 'person' }>[] {
  const keys: ReturnType<typeof identityKeys> = [];
  const emails = emailFields.map((name) => fields[name]).filter((value) => typeof value === 'string' && value !== '');
  for (const value of new Set(emails)) keys.push({ by: 'email', value: String(value) });
  const { familyName, givenName, birthDate } = fields as Record<string, unknown>;
  if (typeof familyName === 'string' && typeof givenName === 'string' && typeof birthDate === 'string')
    keys.push({ by: 'person', familyName, givenName, birthDate });
  return keys;
}

/**
 * Reference under which this hire's employee is made. A create that may have been sent keeps its reference, so that it
 * can be recognised. The reference includes the hire for a person's further employment, and also if the plain reference
 * was refused as taken and a person said that the employee there does not belong to this hire. If another hire has the
 * employee with that reference too, the attempt is added.
 */
export function createReference(hire: HireContext, candidateId: string, isFurther: boolean): string {
  const { creation, connection, decisions, ref } = hire;
  const pinned = creation === undefined ? 'purged' : readKept<{ reference: string }>(creation.pinned);
  if (pinned !== 'purged' && creation?.outcome !== 'refused') return pinned.reference;
  const code = refusalOf(creation);
  const isTaken = code === TAKEN_OVER || (code === 'ALREADY_EXISTS' && decisions.notThese.size > 0);
  if (!isFurther && !isTaken) return employeeReference(connection.tenant, candidateId);
  const own = employeeReference(connection.tenant, candidateId, ref);
  const isUsed = isTaken && pinned !== 'purged' && pinned.reference.startsWith(own);
  return isUsed ? `${own}:${Number(creation?.attempt) + 1}` : own;
}
