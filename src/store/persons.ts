import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { type Employee, employeeIn, type HireRef, IMPORTED_PERIOD, isSameHire } from '../hire/hire.ts';
import {
  type Candidate,
  changePerson as decide,
  type Facts,
  type HireFacts,
  isUnknown,
  isUnsettled,
  type Named,
  type People,
  type Person,
  type PersonEvent,
  type Recorded,
  type Refusal,
  unknownPerson,
} from '../person/person.ts';
import { forgetTold } from './exchange-pairs.ts';
import { findHireRow } from './hires.ts';
import { answersOf } from './holds.ts';
import { unnotedCreates } from './intents.ts';
import { batchesOf, didChange, has, hireColumns, hireOf, inTransaction, readClock, type Store } from './open-store.ts';
import type { Row, Tables } from './schema.ts';
import { assertNamed, readTenantState, siblingsOf } from './tenant-states.ts';

/** A person, by one of their keys. */
type ByName = { connection: string; candidate: Candidate } | { employee: Employee };

/** The person that an event is about: by one of their keys, or by id if the event concerns nobody else. */
type Whose = ByName | { id: string };

/** The person after the event; after a refusal, the unchanged person. */
export interface Outcome {
  person: Person;
  refusal?: Refusal;
}

/** After this many failed tries, the activity's next attempt tries again. */
const MOST_TRIES = 20;

/**
 * Applies an event to a person, or refuses it; people are changed only here. Writes only if the person is still as they
 * were when this was decided: of two concurrent changes one wins, and the other decides again.
 * @throws ConnectorError PERSON_CHANGED if the person is not as the caller saw them, at `version`
 */
export async function changePerson(store: Store, whose: Whose, event: PersonEvent, version?: number): Promise<Outcome> {
  return compareAndSet(store, async (open) => {
    const { changed, found, subject } = await decideOn(open, whose, event);
    if (version !== undefined && subject.version !== version) throw changedMeanwhile();
    if (changed.kind === 'refused') return { person: subject, refusal: changed.refusal };
    const { people, has } = changed;
    if (!(await save(open, found, [people.subject, ...people.others]))) return undefined;
    if (has !== undefined && event.kind === 'link') await noteEmployee(open, event, has);
    return { person: people.subject };
  });
}

/** Repeats `work` while it returns undefined because another process was first. */
async function compareAndSet<T>(store: Store, work: (store: Store) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const done = await inTransaction(store, work).catch((error: unknown) => {
      if (!(error instanceof NameTaken)) throw error;
      if (store.kysely.isTransaction) throw changedMeanwhile();
      return undefined;
    });
    if (done !== undefined) return done;
  }
  throw changedMeanwhile();
}

function changedMeanwhile(): ConnectorError {
  return new ConnectorError({
    code: 'PERSON_CHANGED',
    action: 'retry',
    message: 'Several workers are changing the same person at this moment. It is tried again.',
    retryAfterMs: 0,
  });
}

/** The outcome that an event would have if its hire were open; writes nothing. */
export async function foreseePerson(store: Store, whose: Whose, event: PersonEvent): Promise<Outcome> {
  const asOpen = { isOpen: true, isDone: false, isServed: true, employee: undefined, now: 0 };
  const { changed, subject } = await decideOn(store, whose, event, asOpen);
  return changed.kind === 'refused' ? { person: subject, refusal: changed.refusal } : { person: subject };
}

/** The person as stored; an `unknownPerson` if none is stored. */
export async function findPerson(store: Store, whose: Whose): Promise<Person> {
  const { subject } = await findPeople(store, whose, []);
  return subject;
}

/** Records people who were hired without hirebridge; a person recorded already stays as they are. */
export async function recordPeople(
  store: Store,
  people: ReadonlyArray<{ connection: string; candidate: Candidate; as: Recorded }>,
): Promise<void> {
  for (const some of batchesOf(people, MOST_ROWS))
    await compareAndSet(store, async (open) => {
      const named = some.map(({ as: { tenantId }, candidate: { company } }) => ({ tenantId, company }));
      await assertNamed(open, named);
      const found = await load(open, { keys: some.map(keyOf) });
      const next = new Map(found.map((one) => [one.id, one]));
      for (const { as, ...whose } of some) {
        const known = [...next.values()].find((one) => isNamed(one, keyOf(whose))) ?? unknownAs(whose);
        const recorded = decide({ subject: known, others: [] }, { kind: 'record', as }, NO_FACTS);
        if (recorded.kind === 'changed') next.set(known.id, recorded.people.subject);
      }
      return (await save(open, found, [...next.values()])) || undefined;
    });
}

const NO_FACTS: Facts = { now: 0, unsettled: () => undefined };

async function decideOn(store: Store, whose: Whose, event: PersonEvent, preview?: HireNow) {
  if ('hire' in event && 'connection' in whose)
    await assertNamed(store, [{ tenantId: event.hire.tenantId, company: whose.candidate.company }]);
  // Lock the hire before the person, in the same order as the code that ends hires.
  const row = preview ?? ('hire' in event ? await readHire(store, event.hire) : undefined);
  const { found, subject } = await findPeople(store, whose, keysIn(whose, event));
  const people = { subject, others: found.filter(({ id }) => id !== subject.id) };
  const facts = await readFacts(store, event, row, people);
  return { changed: decide(people, event, facts), found, subject };
}

/** The keys by which the event may concern other persons, too. */
function keysIn(whose: Whose, event: PersonEvent): Key[] {
  if (event.kind === 'link') return [keyOf(event.is)];
  const connection = 'connection' in whose ? whose.connection : '';
  if (event.kind === 'create') return event.keys.map((value) => ({ scope: connection, kind: 'creating', value }));
  if (event.kind === 'merge') return [keyOf({ connection, candidate: event.candidate })];
  if (event.kind !== 'name-company') return [];
  return [keyOf({ connection, candidate: { ...event.candidate, company: event.company } })];
}

async function findPeople(store: Store, whose: Whose, also: readonly Key[]) {
  const found = await load(store, 'id' in whose ? { ids: [whose.id] } : { keys: [keyOf(whose), ...also] });
  const subject = found.find((one) => ('id' in whose ? one.id === whose.id : isNamed(one, keyOf(whose))));
  return { found, subject: subject ?? unknownAs(whose) };
}

function unknownAs(whose: Whose): Person {
  if ('connection' in whose) return unknownPerson(randomUUID(), whose.connection, [whose.candidate]);
  return unknownPerson(randomUUID(), '', []);
}

/** An open hire keeps its first employee: another one found by a suspended worker comes too late. */
async function noteEmployee(
  { kysely, now }: Store,
  { hire, insteadOf }: Extract<PersonEvent, { kind: 'link' }>,
  { employee, number }: Named,
): Promise<void> {
  const { connection, id } = employee;
  const earlier = insteadOf === undefined ? [id] : [id, insteadOf.id];
  await kysely
    .updateTable('hires')
    .set({ step: 'write-back', employee_id: id, employee_number: number, connection, updated_at: now })
    .where(has({ ...hireColumns(hire), state: 'open' }))
    .where((eb) => eb.or([eb('employee_id', 'is', null), eb('employee_id', 'in', earlier)]))
    .execute();
}

type HireNow = HireFacts & { now: number };

/** Locks the row until the transaction ends. */
async function readHire(store: Store, { tenantId, jobCandidateId, period }: HireRef): Promise<HireNow | undefined> {
  const { kysely } = store;
  const query = kysely
    .selectFrom('hires')
    .leftJoin('tenants', 'tenants.tenant_id', 'hires.tenant_id')
    .select(['hires.state', 'employee_id', 'connection', 'tenants.state as tenant_state', store.now.as('now')])
    .where(has({ 'hires.tenant_id': tenantId, job_candidate_id: jobCandidateId, period }));
  const isLocked = store.kind === 'postgres' && kysely.isTransaction;
  const row = await (isLocked ? query.forUpdate('hires') : query).executeTakeFirst();
  if (row === undefined) return undefined;
  const { state, employee_id: id, connection, tenant_state: ofTenant, now } = row;
  return {
    isOpen: state === 'open',
    isDone: state === 'done',
    isServed: ofTenant !== 'removed',
    employee: id === null ? undefined : employeeIn(connection ?? '', id),
    now,
  };
}

/** Reads only the facts that this kind of event depends on. */
async function readFacts(store: Store, event: PersonEvent, row: HireNow | undefined, people: People): Promise<Facts> {
  const facts = { ...NO_FACTS, hire: row };
  if (event.kind === 'hold') return { ...facts, ...(await readRivals(store, event, people.subject)) };
  if (!timed.has(event.kind)) return facts;
  const now = row?.now ?? (await readClock(store));
  const isAboutKeys = event.kind === 'create' || event.kind === 'lapse';
  return { ...facts, now, ...(isAboutKeys && { unsettled: await readUnsettled(store, people) }) };
}

const timed: ReadonlySet<PersonEvent['kind']> = new Set(['create', 'lapse', 'link', 'settle']);

async function readUnsettled({ kysely }: Store, { subject, others }: People): Promise<Facts['unsettled']> {
  const hires = [subject, ...others].flatMap(({ creating }) => creating.map(({ hire }) => hire));
  if (hires.length === 0) return () => undefined;
  const rows = await unnotedCreates({ kysely }, ['open', 'done'])
    .select(['hires.tenant_id', 'hires.job_candidate_id', 'hires.period', 'intents.outcome'])
    .where('hires.job_candidate_id', 'in', [...new Set(hires.map(({ jobCandidateId }) => jobCandidateId))])
    // Nothing continues the hires of a removed tenant.
    .where('hires.tenant_id', 'not in', (tenants) =>
      tenants.selectFrom('tenants').select('tenants.tenant_id').where('tenants.ended_at', 'is not', null),
    )
    .execute();
  return (hire) => {
    const outcomes = rows.filter((row) => isSameHire(hireOf(row), hire)).map(({ outcome }) => outcome);
    return outcomes.includes('done') ? 'done' : outcomes.includes('open') ? 'open' : undefined;
  };
}

type Hold = Extract<PersonEvent, { kind: 'hold' }>;

/** Other hires that concern the person whom a hire asks for. */
async function readRivals(store: Store, event: Hold, person: Person): Promise<Partial<Facts>> {
  const { owner, recorded } = person;
  if (owner !== undefined && !isSameHire(owner, event.hire))
    return { ownerWaits: (await findHireRow(store, owner))?.employee_id === null };
  return {
    isRecordedEarlier: await isRecordedEarlier(store, recorded, event.hire),
    elsewhere: await findElsewhere(store, event, person),
  };
}

/** Whether another tenant knew the application before the hire's tenant went live without seeing it. */
async function isRecordedEarlier(store: Store, recorded: Recorded | undefined, hire: HireRef): Promise<boolean> {
  if (recorded === undefined || recorded.tenantId === hire.tenantId) return false;
  const { baseline_started_at: began, baseline_done_at: done } = await readTenantState(store, hire.tenantId);
  const known = await findHireRow(store, { ...recorded, jobCandidateId: hire.jobCandidateId });
  if (began === null || known === undefined || known.opened_at >= began) return false;
  const own = await findHireRow(store, hire);
  return own === undefined || done === null || own.opened_at > done;
}

/**
 * The hire that owns the person or has their employee in another HR system, of another tenant of the company; `ours`
 * if it is this tenant's own. If the asking hire owns the person here already, only an employee whose hire was not
 * answered `here-too` counts: a restored store had forgotten that employee when this hire first asked.
 */
async function findElsewhere(
  store: Store,
  { hire: { tenantId }, company }: Hold,
  { owner, employees: here, candidates, connection }: Person,
): Promise<Facts['elsewhere']> {
  if (company === undefined || candidates.length === 0 || here.length > 0) return undefined;
  const rows = await store.kysely
    .selectFrom('person_keys')
    .select('person_id')
    .where('kind', 'in', ['candidate', 'company'])
    .where('value', 'in', candidates.map(valueOf))
    .execute();
  const ids = rows.map((row) => row.person_id);
  const people = (await load(store, { ids })).filter((one) => one.connection !== connection);
  const first = people.find(({ companies }) => companies.some(({ scope }) => scope === company))?.owner;
  const isOwned = owner !== undefined;
  if (first !== undefined && !isOwned) return first.tenantId === tenantId ? 'ours' : first;
  // An imported link, or one made before claims covered the whole company, has no owner. Nor has a person whom a hire
  // gave up although its create may have made them an employee.
  const unsettled = (recorded: Recorded | undefined) => (recorded && isUnsettled(recorded.how) ? recorded : undefined);
  const owners = isOwned ? [] : people.flatMap((one) => one.owner ?? unsettled(one.recorded) ?? []);
  const hires = [...owners, ...people.flatMap(({ employees }) => employees.map(({ hire }) => hire))];
  const siblings = hires.length === 0 ? [] : await siblingsOf(store, tenantId);
  for (const hire of hires.filter((one) => siblings.includes(one.tenantId)))
    if (!isOwned || !(await answersOf(store, hire)).some(({ answer }) => answer === 'here-too')) return hire;
  return undefined;
}

// People as rows of the tables `persons` and `person_keys`.

/** Rows in one statement: databases limit the number of its parameters. */
const MOST_ROWS = 200;

/** Another person has one of the keys by now. Rolls the transaction back. */
class NameTaken extends Error {}

type PersonKeyRow = Row<'person_keys'>;
type NewKey = Insertable<Tables['person_keys']>;

/** A key of one person, as in the table. */
type Key = Pick<PersonKeyRow, 'scope' | 'kind' | 'value'>;

function keyOf(named: ByName): Key {
  if ('employee' in named) return { scope: named.employee.connection, kind: 'employee', value: named.employee.id };
  return { scope: named.connection, kind: 'candidate', value: valueOf(named.candidate) };
}

function valueOf({ company, candidateId }: Candidate): string {
  return `${company}:${candidateId}`;
}

function isNamed(person: Person, key: Key): boolean {
  return keysOf(person).some((one) => isSameKey(one, key));
}

function isSameKey(one: Key, other: Key): boolean {
  return one.scope === other.scope && one.kind === other.kind && one.value === other.value;
}

/** People by their ids, or by any of their keys. */
type Wanted = { ids: readonly string[] } | { keys: readonly Key[] };

async function load({ kysely }: Store, wanted: Wanted): Promise<Person[]> {
  if (('ids' in wanted ? wanted.ids : wanted.keys).length === 0) return [];
  const rows = await rowsOf(kysely, wanted).execute();
  return [...Map.groupBy(rows, (row) => row.person_id).values()].map(toPerson);
}

function rowsOf(kysely: Store['kysely'], wanted: Wanted) {
  const keys = 'keys' in wanted ? wanted.keys : [];
  const named = kysely
    .selectFrom('person_keys as named')
    .select('named.person_id')
    .where((eb) => eb.or(keys.map(({ scope, kind, value }) => eb.and({ scope, kind, value }))));
  return kysely
    .selectFrom('persons')
    .innerJoin('person_keys', 'person_keys.person_id', 'persons.person_id')
    .selectAll('person_keys')
    .select(['persons.connection', 'persons.version', 'persons.is_abandoned', 'persons.recorded'])
    .select([
      'persons.tenant_id as owner_tenant',
      'persons.job_candidate_id as owner_id',
      'persons.period as owner_nth',
    ])
    .where('persons.person_id', 'in', 'ids' in wanted ? wanted.ids : named)
    .orderBy('persons.person_id')
    .orderBy('person_keys.at', 'desc')
    .orderBy('person_keys.value', 'desc');
}

type LoadedRow = Awaited<ReturnType<ReturnType<typeof rowsOf>['execute']>>[number];

function toPerson(rows: readonly LoadedRow[]): Person {
  const [first] = rows as [LoadedRow];
  const { person_id: id, connection, version, owner_tenant, owner_id, owner_nth } = first;
  const of = (kind: Key['kind']) => rows.filter((row) => row.kind === kind);
  return {
    id,
    connection,
    version,
    candidates: of('candidate').map(candidateOf),
    owner: refOf({ tenant_id: owner_tenant, job_candidate_id: owner_id, period: owner_nth }),
    isAbandoned: first.is_abandoned === 1,
    recorded: first.recorded === null ? undefined : (JSON.parse(first.recorded) as Recorded),
    companies: of('company').map((row) => ({ scope: row.scope, candidate: candidateOf(row) })),
    employees: of('employee').map((row) => ({
      employee: employeeIn(connection, row.value),
      number: row.employee_number,
      candidate: candidateOf(row),
      hire: refOf(row) ?? NOBODY,
      how: row.how ?? 'linked',
      since: row.at ?? 0,
    })),
    creating: of('creating').map((row) => ({
      key: row.value,
      hire: refOf(row) ?? NOBODY,
      holder: row.holder ?? '',
      until: row.at ?? 0,
    })),
  };
}

const NOBODY: HireRef = { tenantId: '', jobCandidateId: '', period: IMPORTED_PERIOD };

function candidateOf(row: Pick<PersonKeyRow, 'company' | 'candidate_id'>): Candidate {
  return { company: row.company ?? '', candidateId: row.candidate_id ?? '' };
}

type HireColumns = Pick<PersonKeyRow, 'tenant_id' | 'job_candidate_id' | 'period'>;

function refOf({ tenant_id, job_candidate_id, period }: HireColumns): HireRef | undefined {
  if (tenant_id === null || job_candidate_id === null || period === null) return undefined;
  return hireOf({ tenant_id, job_candidate_id, period });
}

function keysOf(person: Person): NewKey[] {
  const { id: person_id, connection: scope, candidates, companies, employees, creating } = person;
  const named = (one: Candidate) => ({ person_id, value: valueOf(one), ...candidateColumns(one) });
  return [
    ...candidates.map((one): NewKey => ({ ...named(one), scope, kind: 'candidate' })),
    ...companies.map((of): NewKey => ({ ...named(of.candidate), scope: of.scope, kind: 'company' })),
    ...employees.map(({ employee, number: employee_number, candidate, hire, how, since: at }): NewKey => {
      const columns = { ...candidateColumns(candidate), ...hireColumns(hire), employee_number, how, at };
      return { person_id, scope, kind: 'employee', value: employee.id, ...columns };
    }),
    ...creating.map(({ key: value, hire, holder, until: at }): NewKey => {
      return { person_id, scope, kind: 'creating', value, ...hireColumns(hire), holder, at };
    }),
  ];
}

const noHire = { tenant_id: null, job_candidate_id: null, period: null };

function candidateColumns({ company, candidateId: candidate_id }: Candidate) {
  return { company, candidate_id };
}

function rowOf(person: Person) {
  const { id: person_id, connection, owner, isAbandoned, recorded } = person;
  return {
    person_id,
    connection,
    ...(owner === undefined ? noHire : hireColumns(owner)),
    is_abandoned: isAbandoned ? 1 : 0,
    recorded: recorded === undefined ? null : JSON.stringify(recorded),
  };
}

/** Saves changed people. False if one of them was changed since they were found. @throws NameTaken */
export async function save(store: Store, found: readonly Person[], people: readonly Person[]): Promise<boolean> {
  const { kysely } = store;
  const before = new Map(found.map((one) => [one.id, JSON.stringify(one)]));
  const changed = people
    .filter((one) => JSON.stringify(one) !== before.get(one.id) && (one.version > 0 || !isUnknown(one)))
    // Every process uses one order, or two that wait for each other would be a deadlock in Postgres.
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const known = changed.filter(({ version }) => version > 0);
  // All are saved or none: the last of several may have been changed, so all are locked before the first is written.
  const asFound = kysely
    .selectFrom('persons')
    .select('person_id')
    .where((eb) => eb.or(known.map(({ id, version }) => eb.and({ person_id: id, version }))))
    .orderBy('person_id');
  const lockAll = store.kind === 'postgres' ? asFound.forUpdate() : asFound;
  if (known.length > 1 && (await lockAll.execute()).length < known.length) return false;
  for (const person of known) {
    const saving = kysely
      .updateTable('persons')
      .set({ ...rowOf(person), version: person.version + 1 })
      .where(has({ person_id: person.id, version: person.version }));
    if (!(await didChange(saving))) return false;
  }
  const ids = (some: readonly Person[]): string[] => some.map(({ id }) => id);
  if (known.length > 0) await kysely.deleteFrom('person_keys').where('person_id', 'in', ids(known)).execute();
  const ended = ids(known.filter(isUnknown));
  if (ended.length > 0) await kysely.deleteFrom('persons').where('person_id', 'in', ended).execute();
  const fresh = changed.filter(({ version }) => version === 0).map((one) => ({ ...rowOf(one), version: 1 }));
  for (const rows of batchesOf(fresh, MOST_ROWS)) await kysely.insertInto('persons').values(rows).execute();
  const keys = changed.filter((one) => !isUnknown(one)).flatMap(keysOf);
  for (const rows of batchesOf(keys, MOST_ROWS)) {
    const taken = await insertKeys(store, rows);
    if (taken.length === 0) continue;
    await dropNobodys(store, taken);
    if ((await insertKeys(store, taken)).length > 0) throw new NameTaken();
  }
  const employees = (some: readonly Person[]) => some.flatMap((one) => one.employees);
  await forgetTold(store, employees(found), employees(people));
  return true;
}

/** Returns the keys that another person has already. */
async function insertKeys({ kysely }: Store, rows: NewKey[]): Promise<NewKey[]> {
  const inserted = await kysely
    .insertInto('person_keys')
    .values(rows)
    .onConflict((c) => c.doNothing())
    .returning(['scope', 'kind', 'value'])
    .execute();
  if (inserted.length === rows.length) return [];
  const isNew = (row: NewKey): boolean => inserted.some((one) => isSameKey(one, row));
  return rows.filter((row) => !isNew(row));
}

/** Deletes keys whose person does not exist, as a repair by hand may leave them: they would stay taken for ever. */
async function dropNobodys({ kysely }: Store, keys: readonly Key[]): Promise<void> {
  await kysely
    .deleteFrom('person_keys')
    .where((eb) => eb.or(keys.map(({ scope, kind, value }) => eb.and({ scope, kind, value }))))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('persons').select('persons.person_id').whereRef('persons.person_id', '=', 'person_keys.person_id'),
        ),
      ),
    )
    .execute();
}
