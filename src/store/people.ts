import { type NotNull, type RawBuilder, sql } from 'kysely';
import { type Employee, followedStates, type HireRef, IMPORTED_PERIOD, isSameHire } from '../hire/hire.ts';
import { type Candidate, isSameCandidate, type Named, type PersonEvent, type Recorded } from '../person/person.ts';
import { audit } from './audit.ts';
import { employeeOf, hiresWith } from './hires.ts';
import { latestIntent, refuseMade, unnotedCreates } from './intents.ts';
import { didChange, has, hireColumns, hireOf, inTransaction, locked, type Store, sameHire } from './open-store.ts';
import { erasedAmong, type PersonId } from './person-marks.ts';
import { changePerson, findPerson } from './persons.ts';
import type { HireRow } from './schema.ts';
import { assertNamed } from './tenant-states.ts';

/**
 * Releases the people of a hire that ended without an employee: any hire may claim them; their records stay. If it is
 * unknown whether the hire's create made an employee, the next hire asks.
 */
export async function releasePeople(store: Store, hire: HireRef, isUnsettled = false): Promise<void> {
  for (const { id } of await ownedBy(store, hireColumns(hire))) {
    // First: a person of whom nothing is known is deleted.
    if (isUnsettled) await changePerson(store, { id }, { kind: 'record', as: { ...hire, how: 'cancelled' } });
    await changePerson(store, { id }, { kind: 'release', hire });
  }
}

/** Releases the people of hires that will no longer make an employee in this HR system. */
export async function releaseUnemployed(store: Store, tenantId: string, connection: string): Promise<void> {
  for (const { id, owner, hasEmployee } of await ownedBy(store, { tenant_id: tenantId, connection }))
    if (!hasEmployee) await changePerson(store, { id }, { kind: 'release', hire: owner });
}

/**
 * Releases the people of a removed tenant's hires without an employee, since nothing continues those hires. A person
 * whose create may have made an employee stays marked, so that the next hire asks.
 */
export async function giveUpPeople(store: Store, tenantId: string): Promise<void> {
  const unsettled = await unnotedCreates(store, ['open', 'done'])
    .where('hires.tenant_id', '=', tenantId)
    .select(['hires.tenant_id', 'hires.job_candidate_id', 'hires.period'])
    .distinct()
    .execute();
  const sent = new Set(unsettled.map((row) => JSON.stringify(hireOf(row))));
  for (const { id, owner, state, hasEmployee } of await ownedBy(store, { tenant_id: tenantId })) {
    if (sent.has(JSON.stringify(owner))) await changePerson(store, { id }, { kind: 'abandon', hire: owner });
    else if (state === 'open' && !hasEmployee) await changePerson(store, { id }, { kind: 'release', hire: owner });
  }
}

/** Gives people back to a tenant that was applied again: its hires go on and settle their creates themselves. */
export async function takePeopleBack(store: Store, tenantId: string): Promise<void> {
  const rows = await store.kysely
    .selectFrom('persons')
    .select('person_id')
    .where((eb) =>
      eb.or([
        eb.and({ tenant_id: tenantId, is_abandoned: 1 }),
        // Recorded by a removed tenant, and taken by another tenant since.
        eb('recorded', 'like', '%"how":"removed"%'),
      ]),
    )
    .execute();
  for (const { person_id: id } of rows) await changePerson(store, { id }, { kind: 'take-back', tenantId });
}

/** In place of a refusal's code: another hire has the employee of this write now. */
export const TAKEN_OVER = 'taken-over';

/**
 * The hire makes an employee of its own, because another hire took over the one that it had. The writes with these
 * verbs made that one: they count as refused, so that none of them is taken for the write that follows.
 */
export async function giveUpEmployee(
  store: Store,
  hire: HireRef,
  { id }: Employee,
  verbs: readonly string[],
): Promise<void> {
  await inTransaction(store, async (trx) => {
    const giving = trx.kysely
      .updateTable('hires')
      .set({ employee_id: null, employee_number: null, connection: null, updated_at: store.now })
      .where(has({ ...hireColumns(hire), state: 'open', employee_id: id }));
    if (!(await didChange(giving))) return;
    for (const verb of verbs) {
      const latest = await latestIntent(trx, hire, verb);
      if (latest?.outcome === 'done') await refuseMade(trx, latest, { code: TAKEN_OVER });
    }
  });
}

/** The outcome of a create of this hire is known. */
export function settleCreating(store: Store, hire: HireRef, holder?: string): Promise<void> {
  const attempt = holder === undefined ? {} : { holder };
  return tellCreating(store, { ...hireColumns(hire), ...attempt }, { kind: 'settle', hire, ...attempt });
}

/** Forgets the keys of people being made, once no hire waits for them any more. */
export function lapseCreating(store: Store, tenantId: string): Promise<void> {
  return tellCreating(store, { tenant_id: tenantId }, { kind: 'lapse' });
}

/** Applies the event to people whose employee is being made. */
async function tellCreating(
  store: Store,
  where: { tenant_id: string; job_candidate_id?: string; period?: number; holder?: string },
  event: PersonEvent,
): Promise<void> {
  const rows = await store.kysely
    .selectFrom('person_keys')
    .select('person_id')
    .distinct()
    .where(has({ kind: sql.lit<'creating'>('creating'), ...where }))
    .execute();
  for (const { person_id: id } of rows) await changePerson(store, { id }, event);
}

async function ownedBy(
  { kysely }: Store,
  where: { tenant_id: string; job_candidate_id?: string; period?: number; connection?: string },
) {
  const rows = await kysely
    .selectFrom('persons')
    .leftJoin('hires', sameHire('hires', 'persons'))
    .select(['persons.person_id', 'hires.state', 'hires.employee_id'])
    .select(['persons.tenant_id', 'persons.job_candidate_id', 'persons.period'])
    .$narrowType<{ tenant_id: NotNull; job_candidate_id: NotNull; period: NotNull }>()
    .where((eb) =>
      eb.and(Object.entries(where).map(([name, value]) => eb(`persons.${name as keyof typeof where}`, '=', value))),
    )
    .execute();
  return rows.map((row) => ({
    id: row.person_id,
    owner: hireOf(row),
    state: row.state,
    hasEmployee: row.employee_id !== null,
  }));
}

/**
 * Gives the employee of a hire whose person left back to the newest other hire that has them. Runs in the transaction
 * that ends the hire, because nothing would repair it later.
 */
export async function leaveEmployee(store: Store, over: HireRow): Promise<void> {
  const employee = employeeOf(over);
  if (employee === undefined) return;
  const hire = hireOf(over);
  const heirs = await hiresWith(store, employee, followedStates);
  const next = heirs.find((one) => !isSameHire(hireOf(one), hire));
  const heir = next && { ...hireOf(next), candidateId: next.candidate_id };
  await changePerson(store, { employee }, { kind: 'leave', hire, employee, heir });
}

/** A person who is an employee already. */
interface ImportedLink {
  connection: string;
  candidate: Candidate;
  is: Named;
  /** The candidate who had the employee, and whom the partner merged into this one. */
  instead?: Candidate | undefined;
}

/** Writes all links or none. False if one of the people was linked, hired or erased since they were read. */
export async function importLinks(
  store: Store,
  { tenantId, by, details }: { tenantId: string; by: string; details: string },
  links: readonly ImportedLink[],
): Promise<boolean> {
  const hire: HireRef = { tenantId, jobCandidateId: '', period: IMPORTED_PERIOD };
  try {
    await inTransaction(store, async (open) => {
      const candidates = links.map(({ candidate }): PersonId => ({ kind: 'candidate', id: candidate.candidateId }));
      const employees = links.map(
        ({ is: { employee } }): PersonId => ({ kind: 'employee', id: `${employee.connection}/${employee.id}` }),
      );
      if ((await erasedAmong(open, tenantId, [...candidates, ...employees])).size > 0) throw new NotLinked();
      for (const { connection, candidate, is, instead } of links) {
        if (instead !== undefined) {
          const { candidates: theirs } = await findPerson(open, is);
          if (!theirs.some((one) => isSameCandidate(one, instead))) throw new NotLinked();
        }
        const how = { how: 'imported', samePerson: instead !== undefined } as const;
        const event = { kind: 'link', hire, candidate, is, shownAfterMs: 0, ...how } as const;
        if ((await changePerson(open, { connection, candidate }, event)).refusal !== undefined) throw new NotLinked();
      }
      await audit(open, { by, tenantId, act: 'linked', details });
    });
    return true;
  } catch (error) {
    if (error instanceof NotLinked) return false;
    throw error;
  }
}

/** Undoes the transaction. */
class NotLinked extends Error {}

/** The partner shows an application as another candidate's: what is known of either is known of one person. */
export async function mergeCandidates(
  store: Store,
  { tenantId, jobCandidateId }: Pick<HireRef, 'tenantId' | 'jobCandidateId'>,
  { connection, from, to }: { connection: string; from: Candidate; to: Candidate },
): Promise<void> {
  await inTransaction(store, async (open) => {
    await assertNamed(open, [{ tenantId, company: from.company }]);
    await open.kysely
      .updateTable('hires')
      .set({ candidate_id: to.candidateId })
      .where(has({ tenant_id: tenantId, job_candidate_id: jobCandidateId, candidate_id: from.candidateId }))
      .execute();
    await changePerson(open, { connection, candidate: from }, { kind: 'merge', from, candidate: to });
  });
}

/**
 * Moves people whom tenants hired while they named no company, and each was its own, to the company (`companies`, by
 * tenant) that it names now, so that they are still recognised. A person whom another tenant owns under the company's
 * name stays that tenant's. Somebody known by both names becomes one person.
 */
export async function nameCompanies(store: Store, companies: ReadonlyMap<string, string>): Promise<void> {
  const { kysely } = store;
  const names = [...companies.keys()];
  if (names.length === 0) return;
  // Waits for who records somebody by a tenant's name at this moment: see `assertNamed`.
  const tenants = kysely.selectFrom('tenants').select('tenant_id').where('tenant_id', 'in', names).orderBy('tenant_id');
  await locked(store, tenants).execute();
  const rows = await kysely
    .selectFrom('person_keys')
    .select(['scope as connection', 'company', 'candidate_id'])
    .where('kind', '=', 'candidate')
    .where('company', 'in', names)
    .execute();
  for (const { connection, company: own, candidate_id: id } of rows) {
    const candidate = { company: own ?? '', candidateId: id ?? '' };
    const event = { kind: 'name-company', candidate, company: companies.get(candidate.company) ?? '' } as const;
    await changePerson(store, { connection, candidate }, event);
  }
}

/** Known employees for joins: one row each, with the hire that has the employee now. */
export function employedRows({ kysely }: Pick<Store, 'kysely'>) {
  return kysely
    .selectFrom('person_keys as known')
    .where('known.kind', '=', sql.lit('employee'))
    .select(['known.scope as connection', 'known.value as employee_id', 'known.employee_number', 'known.how'])
    .select(['known.company', 'known.candidate_id', 'known.at as linked_at'])
    .select(['known.tenant_id', 'known.job_candidate_id', 'known.period', 'known.person_id'])
    .$narrowType<{ company: NotNull; candidate_id: NotNull; how: NotNull; linked_at: NotNull }>()
    .$narrowType<{ tenant_id: NotNull; job_candidate_id: NotNull; period: NotNull }>();
}

/** A hire that does not match any person's record. */
export interface Unjoined {
  tenantId: string;
  jobCandidateId: string;
  why: 'employee-unknown' | 'candidate-unknown' | 'owner-over' | 'owner-missing';
}

/**
 * Finds hires that do not match the records of people: hires whose employee belongs to no person, hires recorded
 * without a candidate, and hires that own a person although they are over or have no row.
 */
export async function listUnjoined({ kysely }: Store): Promise<Unjoined[]> {
  const hires = kysely.selectFrom('hires').select(['hires.tenant_id', 'hires.job_candidate_id']);
  const unlinked = hires
    .where('hires.employee_id', 'is not', null)
    .where('hires.state', 'in', followedStates)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('person_keys')
            .select('person_keys.value')
            .whereRef('person_keys.scope', '=', 'hires.connection')
            .where('person_keys.kind', '=', 'employee')
            .whereRef('person_keys.value', '=', 'hires.employee_id'),
        ),
      ),
    );
  const unnamed = hires.where(has({ 'hires.state': 'before-go-live', 'hires.candidate_id': null }));
  const owners = kysely
    .selectFrom('persons')
    .leftJoin('hires', sameHire('hires', 'persons'))
    .select(['persons.tenant_id', 'persons.job_candidate_id', 'hires.state'])
    .where('persons.tenant_id', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('hires.state', 'is', null),
        eb.and([eb('hires.state', 'not in', followedStates), eb('hires.employee_id', 'is', null)]),
      ]),
    );
  const name = (why: Unjoined['why']) => (row: { tenant_id: string | null; job_candidate_id: string | null }) => ({
    tenantId: row.tenant_id ?? '',
    jobCandidateId: row.job_candidate_id ?? '',
    why,
  });
  return [
    ...(await unlinked.execute()).map(name('employee-unknown')),
    ...(await unnamed.execute()).map(name('candidate-unknown')),
    ...(await owners.execute()).map((row) => name(row.state === null ? 'owner-missing' : 'owner-over')(row)),
  ];
}

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
