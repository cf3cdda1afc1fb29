import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { type Employee, employeeIn, type HireRef, IMPORTED_PERIOD, isSameEmployee, isSameHire } from '../hire/hire.ts';
import { type Candidate, isUnknown, type Person, type Recorded } from '../person/person.ts';
import { batchesOf, has, hireColumns, hireOf, type Store } from './open-store.ts';
import type { PersonKeyTable } from './schema.ts';

// People as stored in the tables `persons` and `person_keys`; only `persons.ts` reads, compares and writes them.

/** Rows in one statement: databases limit the number of its parameters. */
export const MOST_ROWS = 200;

/** Another person has one of the keys by now. Rolls the transaction back. */
export class NameTaken extends Error {}

/** A person, by one of their keys. */
export type ByName = { connection: string; candidate: Candidate } | { employee: Employee };

/** Selects rows of `persons` (or its alias) that this tenant recorded (a-z, 0-9, -); null if no tenant did. */
export function recordedBy(tenantId: string, persons = 'persons'): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${persons}.recorded`)} like ${`%"tenantId":"${tenantId}"%`}`;
}

/**
 * Of tenants that share an HR system, the first one records a person for all. If it forgets people, this records them
 * for a sibling that had them before go-live, too. `people`: ids, or a query that finds them.
 */
export async function handOverRecorded(
  kysely: Store['kysely'],
  tenantId: string,
  { people, siblings }: { people: RawBuilder<unknown>; siblings: readonly string[] },
): Promise<void> {
  if (siblings.length === 0) return;
  const had = await kysely
    .selectFrom('persons')
    .innerJoin('person_keys as key', 'key.person_id', 'persons.person_id')
    .innerJoin('hires', 'hires.candidate_id', 'key.candidate_id')
    .select(['persons.person_id', 'persons.recorded'])
    .select(['hires.tenant_id', 'hires.job_candidate_id', 'hires.period'])
    .where((eb) =>
      eb.and([sql<boolean>`persons.person_id in (${people})`, recordedBy(tenantId), eb('key.kind', '=', 'candidate')]),
    )
    .where('hires.tenant_id', 'in', siblings)
    .where('hires.state', 'in', ['before-go-live', 'left'])
    .orderBy('hires.opened_at', 'desc')
    .execute();
  for (const { person_id: id, recorded, ...hire } of had) {
    const { how } = JSON.parse(recorded ?? '') as Recorded;
    const as: Recorded = { how, ...hireOf(hire) };
    await sql`update persons set recorded = ${JSON.stringify(as)}, version = version + 1
      where person_id = ${id}`.execute(kysely);
  }
}

/** A key of one person, as in the table. */
export type Key = Pick<Selectable<PersonKeyTable>, 'scope' | 'kind' | 'value'>;

export function keyOf(named: ByName): Key {
  if ('employee' in named) return { scope: named.employee.connection, kind: 'employee', value: named.employee.id };
  return { scope: named.connection, kind: 'candidate', value: valueOf(named.candidate) };
}

export function valueOf({ company, candidateId }: Candidate): string {
  return `${company}:${candidateId}`;
}

export function isNamed(person: Person, key: Key): boolean {
  return keysOf(person).some((one) => isSameKey(one, key));
}

function isSameKey(one: Key, other: Key): boolean {
  return one.scope === other.scope && one.kind === other.kind && one.value === other.value;
}

/** People by their ids, or by any of their keys. */
type Wanted = { ids: readonly string[] } | { keys: readonly Key[] };

export async function load({ kysely }: Store, wanted: Wanted): Promise<Person[]> {
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

function candidateOf(row: Pick<PersonKeyTable, 'company' | 'candidate_id'>): Candidate {
  return { company: row.company ?? '', candidateId: row.candidate_id ?? '' };
}

type HireColumns = Pick<PersonKeyTable, 'tenant_id' | 'job_candidate_id' | 'period'>;

function refOf({ tenant_id, job_candidate_id, period }: HireColumns): HireRef | undefined {
  if (tenant_id === null || job_candidate_id === null || period === null) return undefined;
  return hireOf({ tenant_id, job_candidate_id, period });
}

type KeyRow = Insertable<PersonKeyTable>;

function keysOf(person: Person): KeyRow[] {
  const { id: person_id, connection: scope, candidates, companies, employees, creating } = person;
  const none = { person_id, ...noHire, company: null, candidate_id: null, employee_number: null };
  const rest = { ...none, how: null, holder: null, at: null };
  const named = (one: Candidate) => ({ ...rest, value: valueOf(one), ...candidateColumns(one) });
  return [
    ...candidates.map((one): KeyRow => ({ ...named(one), scope, kind: 'candidate' })),
    ...companies.map((of): KeyRow => ({ ...named(of.candidate), scope: of.scope, kind: 'company' })),
    ...employees.map((one): KeyRow => {
      const { employee, number: employee_number, candidate, hire, how, since: at } = one;
      const columns = { ...candidateColumns(candidate), ...hireColumns(hire), employee_number, how, at };
      return { ...rest, scope, kind: 'employee', value: employee.id, ...columns };
    }),
    ...creating.map(({ key: value, hire, holder, until: at }): KeyRow => {
      return { ...rest, scope, kind: 'creating', value, ...hireColumns(hire), holder, at };
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
  for (const person of known) {
    const { numUpdatedRows } = await kysely
      .updateTable('persons')
      .set({ ...rowOf(person), version: person.version + 1 })
      .where(has({ person_id: person.id, version: person.version }))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
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
  await forgetTold(store, found, people);
  return true;
}

/** Returns the keys that another person has already. */
async function insertKeys({ kysely }: Store, rows: KeyRow[]): Promise<KeyRow[]> {
  const inserted = await kysely
    .insertInto('person_keys')
    .values(rows)
    .onConflict((c) => c.doNothing())
    .returning(['scope', 'kind', 'value'])
    .execute();
  if (inserted.length === rows.length) return [];
  const isNew = (row: KeyRow): boolean => inserted.some((one) => isSameKey(one, row));
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

/** Streams report the hire that has the employee now, so what they noted of the earlier hire's job goes. */
async function forgetTold({ kysely }: Store, found: readonly Person[], people: readonly Person[]): Promise<void> {
  const before = found.flatMap(({ employees }) => employees);
  for (const { employee, hire } of people.flatMap(({ employees }) => employees)) {
    const had = before.find((one) => isSameEmployee(one.employee, employee));
    if (had === undefined || isSameHire(had.hire, hire)) continue;
    const tenants = [had.hire.tenantId, hire.tenantId];
    const { id } = employee;
    await kysely.deleteFrom('employments').where('tenant_id', 'in', tenants).where('employee_id', '=', id).execute();
    // Another hire's job and start date are no amendment.
    const pairs = kysely.deleteFrom('exchange_pairs').where('tenant_id', 'in', tenants);
    await pairs.where(has({ stream: 'amendments', pair_id: id })).execute();
  }
}
