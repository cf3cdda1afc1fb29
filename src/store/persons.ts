import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { employeeIn } from '../hire/employee.ts';
import { type HireRef, isSameHire } from '../hire/hire.ts';
import {
  changePerson as decide,
  type Facts,
  type HireFacts,
  type Named,
  type PersonEvent,
  type Refusal,
} from '../person/change-person.ts';
import { type Candidate, type Person, type Recorded, unknownPerson } from '../person/person.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import { answersOf } from './holds.ts';
import { unnotedCreates } from './intents.ts';
import type { Store } from './open-store.ts';
import { type ByName, isNamed, type Key, keyOf, load, MOST_ROWS, NameTaken, save, valueOf } from './person-rows.ts';
import type { Tables } from './schema.ts';
import { readClock, siblingsOf } from './tenant-states.ts';

/** The person that an event is about: by one of their keys, or by id. */
export type Whose = ByName | { id: string };

/** The person after the event; after a refusal, the unchanged person. */
export interface Outcome {
  person: Person;
  /** `changed`: the person was changed after this was decided. */
  refusal?: Refusal | { reason: 'changed' };
}

/** After this many failed tries, the activity's next attempt tries again. */
const MOST_TRIES = 20;
/**
 * Applies an event to a person, or refuses it; people are changed only here. Writes only if the person is still as they
 * were when this was decided: of two concurrent changes one wins, and the other decides again. With `version`, a person
 * who is not as the caller saw them is refused as `changed`.
 */
export async function changePerson(
  store: Store,
  whose: Whose,
  event: PersonEvent,
  options: { version?: number } = {},
): Promise<Outcome> {
  return compareAndSet(store, (open) => attempt(open, whose, event, options));
}

/** Repeats `work` while it returns undefined because another process was first. */
async function compareAndSet<T>(store: Store, work: (store: Store) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const done = await inTransaction(store, work).catch((error: unknown) => {
      if (error instanceof NameTaken && !store.kysely.isTransaction) return undefined;
      throw error instanceof NameTaken ? changedMeanwhile() : error;
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
  });
}

/** Uses the caller's transaction if there is one. */
export async function inTransaction<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  if (store.kysely.isTransaction) return work(store);
  return store.kysely.transaction().execute((kysely) => work({ ...store, kysely }));
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
  for (let from = 0; from < people.length; from += MOST_ROWS) {
    const some = people.slice(from, from + MOST_ROWS);
    await compareAndSet(store, async (open) => {
      const found = await load(open, [], some.map(keyOf));
      const next = new Map(found.map((one) => [one.id, one]));
      for (const { as, ...whose } of some) {
        const known = [...next.values()].find((one) => isNamed(one, keyOf(whose))) ?? unknownAs(whose);
        const recorded = decide({ subject: known, others: [] }, { kind: 'record', as }, NO_FACTS);
        if (recorded.kind === 'changed') next.set(known.id, recorded.people.subject);
      }
      return (await save(open, found, [...next.values()])) ? true : undefined;
    });
  }
}

const NO_FACTS: Facts = { now: 0, unsettled: () => undefined };

async function attempt(
  store: Store,
  whose: Whose,
  event: PersonEvent,
  { version }: { version?: number },
): Promise<Outcome | undefined> {
  const { changed, found, subject } = await decideOn(store, whose, event);
  if (version !== undefined && subject.version !== version) return { person: subject, refusal: { reason: 'changed' } };
  if (changed.kind === 'refused') return { person: subject, refusal: changed.refusal };
  const { people, has } = changed;
  if (!(await save(store, found, [people.subject, ...people.others]))) return undefined;
  if (has !== undefined && event.kind === 'link') await noteEmployee(store, event, has);
  return { person: people.subject };
}

async function decideOn(store: Store, whose: Whose, event: PersonEvent, preview?: HireNow) {
  // Lock the hire before the person, in the same order as the code that ends hires.
  const row = preview ?? ('hire' in event ? await readHire(store, event.hire) : undefined);
  const { found, subject } = await findPeople(store, whose, keysIn(whose, event));
  const others = found.filter(({ id }) => id !== subject.id);
  const facts = await readFacts(store, { event, row, subject, others });
  return { changed: decide({ subject, others }, event, facts), found, subject };
}

function keysIn(whose: Whose, event: PersonEvent): Key[] {
  if (event.kind === 'link') return [keyOf(event.is)];
  const scope = 'connection' in whose ? whose.connection : '';
  if (event.kind === 'name-company')
    return [keyOf({ connection: scope, candidate: { ...event.candidate, company: event.company } })];
  return event.kind === 'create' ? event.keys.map((value) => ({ scope, kind: 'creating', value })) : [];
}

async function findPeople(
  store: Store,
  whose: Whose,
  also: readonly Key[],
): Promise<{ found: Person[]; subject: Person }> {
  const own = 'id' in whose ? undefined : keyOf(whose);
  const found = await load(store, 'id' in whose ? [whose.id] : [], own === undefined ? also : [own, ...also]);
  const subject = found.find((one) => ('id' in whose ? one.id === whose.id : isNamed(one, own)));
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
    .where((eb) => eb.and({ ...hireColumns(hire), state: 'open' }))
    .where((eb) => eb.or([eb('employee_id', 'is', null), eb('employee_id', 'in', earlier)]))
    .execute();
}

type HireNow = HireFacts & { now: number };

/** Locks the row until the transaction ends. */
async function readHire(store: Store, hire: HireRef): Promise<HireNow | undefined> {
  const { kysely } = store;
  const query = kysely
    .selectFrom('hires')
    .select(['state', 'employee_id', 'connection', store.now.as('now')])
    .select((eb) => isServed(eb).as('served'))
    .where((eb) => eb.and(hireColumns(hire)));
  const row = await (store.kind === 'postgres' && kysely.isTransaction ? query.forUpdate() : query).executeTakeFirst();
  if (row === undefined) return undefined;
  const { state, employee_id: id, connection, served, now } = row;
  return {
    isOpen: state === 'open',
    isDone: state === 'done',
    isServed: Boolean(served),
    employee: id === null ? undefined : employeeIn(connection ?? '', id),
    now,
  };
}

function isServed(eb: ExpressionBuilder<Tables, 'hires'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('tenants')
        .select('tenants.tenant_id')
        .whereRef('tenants.tenant_id', '=', 'hires.tenant_id')
        .where('tenants.state', '=', 'removed'),
    ),
  );
}

interface Known {
  event: PersonEvent;
  row: HireNow | undefined;
  subject: Person;
  others: readonly Person[];
}

/** Reads only the facts that this kind of event depends on. */
async function readFacts(store: Store, known: Known): Promise<Facts> {
  const { event, row, subject, others } = known;
  const facts: Facts = { now: row?.now ?? 0, hire: row, unsettled: () => undefined };
  if (event.kind === 'hold') return { ...facts, ...(await readRivals(store, event, subject)) };
  if (event.kind === 'create' || event.kind === 'lapse')
    return { ...(await timed(store, facts)), unsettled: await readUnsettled(store, [subject, ...others]) };
  return event.kind === 'link' || event.kind === 'settle' ? timed(store, facts) : facts;
}

async function timed(store: Store, facts: Facts): Promise<Facts> {
  return facts.now > 0 ? facts : { ...facts, now: await readClock(store) };
}

async function readUnsettled({ kysely }: Store, people: readonly Person[]): Promise<Facts['unsettled']> {
  const hires = people.flatMap(({ creating }) => creating.map(({ hire }) => hire));
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

/** Other hires that concern the person whom a hire asks for. */
async function readRivals(
  store: Store,
  { hire, company }: Extract<PersonEvent, { kind: 'hold' }>,
  { owner, recorded, employees, candidates, connection }: Person,
): Promise<Pick<Facts, 'ownerWaits' | 'elsewhere' | 'isRecordedEarlier'>> {
  if (owner !== undefined && !isSameHire(owner, hire)) return { ownerWaits: await waits(store, owner) };
  const earlier = { isRecordedEarlier: await isRecordedEarlier(store, recorded, hire) };
  const [candidate] = candidates;
  if (company === undefined || candidate === undefined || employees.length > 0) return earlier;
  const asked = { company, candidate, connection, tenantId: hire.tenantId, isOwned: owner !== undefined };
  return { ...earlier, elsewhere: await findElsewhere(store, asked) };
}

/** Whether another tenant knew the application before the hire's tenant went live without seeing it. */
async function isRecordedEarlier({ kysely }: Store, recorded: Person['recorded'], hire: HireRef): Promise<boolean> {
  if (recorded === undefined || recorded.tenantId === hire.tenantId) return false;
  const row = await kysely
    .selectFrom('tenants')
    .innerJoin('hires as known', (join) => join.onRef('known.opened_at', '<', 'tenants.baseline_started_at'))
    .select('known.period')
    .where((eb) => eb.and({ 'tenants.tenant_id': hire.tenantId, 'known.tenant_id': recorded.tenantId }))
    .where((eb) => eb.and({ 'known.job_candidate_id': hire.jobCandidateId, 'known.period': recorded.period }))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('hires')
            .select('hires.period')
            .where((own) => own.and(hireColumns(hire)))
            .whereRef('hires.opened_at', '<=', 'tenants.baseline_done_at'),
        ),
      ),
    )
    .executeTakeFirst();
  return row !== undefined;
}

async function waits({ kysely }: Store, owner: HireRef): Promise<boolean> {
  const query = kysely.selectFrom('hires').select('employee_id');
  const row = await query.where((eb) => eb.and(hireColumns(owner))).executeTakeFirst();
  return row?.employee_id === null;
}

interface Asked {
  company: string;
  candidate: Candidate;
  connection: string;
  tenantId: string;
  /** The asking hire owns the person in this HR system. */
  isOwned: boolean;
}

/**
 * The hire that owns the person or has their employee in another HR system, of another tenant of the company; `ours`
 * if it is this tenant's own. If the asking hire owns the person here already, only an employee whose hire was not
 * answered `here-too` counts: a restored store had forgotten that employee when this hire first asked.
 */
async function findElsewhere(
  store: Store,
  { company, candidate, connection, tenantId, isOwned }: Asked,
): Promise<Facts['elsewhere']> {
  const { kysely } = store;
  const rows = await kysely
    .selectFrom('person_keys')
    .select('person_id')
    .where('kind', 'in', ['candidate', 'company'])
    .where('value', '=', valueOf(candidate))
    .execute();
  if (rows.length === 0) return undefined;
  const ids = rows.map((row) => row.person_id);
  const people = (await load(store, ids, [])).filter((one) => one.connection !== connection);
  if (isOwned) return findUnasked(store, tenantId, people);
  const first = people.find(({ companies }) => companies.some(({ scope }) => scope === company))?.owner;
  if (first !== undefined) return first.tenantId === tenantId ? 'ours' : first;
  const hires = people.flatMap(({ owner, employees }) => [
    ...(owner === undefined ? [] : [owner]),
    ...employees.map(({ hire }) => hire),
  ]);
  if (hires.length === 0) return undefined;
  // An imported link, or one made before claims covered the whole company.
  const siblings = await siblingsOf(store, tenantId);
  return hires.find((one) => siblings.includes(one.tenantId));
}

async function findUnasked(store: Store, tenantId: string, people: readonly Person[]): Promise<HireRef | undefined> {
  const hires = people.flatMap(({ employees }) => employees.map(({ hire }) => hire));
  if (hires.length === 0) return undefined;
  const siblings = await siblingsOf(store, tenantId);
  for (const hire of hires.filter((one) => siblings.includes(one.tenantId)))
    if (!(await answersOf(store, hire)).some(({ answer }) => answer === 'here-too')) return hire;
  return undefined;
}
