import { sql } from 'kysely';
import type { HireRef } from '../hire/hire-ref.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import { openHire } from './hires.ts';
import type { RecordedHow } from './identity-tables.ts';
import { unnotedCreates } from './intents.ts';
import type { Store } from './open-store.ts';
import type { ClaimRow, LinkRow } from './schema.ts';

/** One person in one HRIS, as the partner knows them. */
export interface Person {
  /** Name of the HRIS connection; tenants may share one. */
  connection: string;
  partnerCompany: string;
  candidateId: string;
}

/**
 * Takes the right to be the only hire that looks up, creates or links this person. Returns the claim in force: the
 * caller's own, or another hire's. Undefined when there is none: a hire that is over or whose tenant is removed takes
 * none, nobody would release it.
 */
export async function takeClaim(
  store: Store,
  person: Person,
  key: HireRef,
): Promise<{ mine: boolean; claim: ClaimRow } | undefined> {
  const taken = await store.kysely
    .insertInto('claims')
    .columns(['connection', 'partner_company', 'candidate_id', 'tenant_id', 'job_candidate_id', 'period', 'claimed_at'])
    .expression(
      openHire(store, key)
        .where((eb) => eb.not(eb.exists(removedTenant(store, key.tenantId))))
        .select((eb) => [
          eb.val(person.connection).as('connection'),
          eb.val(person.partnerCompany).as('partner_company'),
          eb.val(person.candidateId).as('candidate_id'),
          'hires.tenant_id',
          'hires.job_candidate_id',
          'hires.period',
          store.now.as('claimed_at'),
        ]),
    )
    .onConflict((c) => c.columns(['connection', 'partner_company', 'candidate_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
  const claim = taken ?? (await claimOfPerson(store, person));
  if (claim === undefined) return undefined;
  const mine =
    claim.tenant_id === key.tenantId && claim.job_candidate_id === key.jobCandidateId && claim.period === key.period;
  return { mine, claim };
}

function removedTenant({ kysely }: Store, tenantId: string) {
  return kysely
    .selectFrom('tenants')
    .select('tenants.tenant_id')
    .where('tenants.tenant_id', '=', tenantId)
    .where('tenants.state', '=', 'removed');
}

/** The claim in force. */
export async function claimOfPerson(store: Store, person: Person): Promise<ClaimRow | undefined> {
  return store.kysely
    .selectFrom('claims')
    .selectAll()
    .where('connection', '=', person.connection)
    .where('partner_company', '=', person.partnerCompany)
    .where('candidate_id', '=', person.candidateId)
    .executeTakeFirst();
}

/** Releases the claim: the hire ended without an employee. Who was recorded before is known as such again. */
export async function releaseClaim(store: Store, key: HireRef): Promise<void> {
  const held = await store.kysely
    .deleteFrom('claims')
    .where((eb) => eb.and(hireColumns(key)))
    .returningAll()
    .execute();
  for (const { recorded, ...claim } of held) {
    if (recorded === null) continue;
    const person = {
      connection: claim.connection,
      partnerCompany: claim.partner_company,
      candidateId: claim.candidate_id,
    };
    await recordPeople(store, [{ person, as: JSON.parse(recorded) as RecordedAs }]);
  }
}

/**
 * Nobody goes on with the hires of a removed tenant: those without an employee give their people back. Whose create may
 * have made an employee is known as somebody to ask about.
 */
export async function releaseClaimsOf(store: Store, tenantId: string): Promise<void> {
  const { kysely } = store;
  const rows = await unnotedCreates(store, ['open', 'done'])
    .where('hires.tenant_id', '=', tenantId)
    .select(['hires.tenant_id', 'hires.job_candidate_id', 'hires.period'])
    .distinct()
    .execute();
  for (const ref of rows.map(hireOf))
    await kysely
      .updateTable('claims')
      .set({ how: 'removed', recorded: JSON.stringify({ ...ref, how: 'removed' } satisfies RecordedAs) })
      .where((eb) => eb.and(hireColumns(ref)))
      .execute();
  const held = await kysely
    .selectFrom('claims')
    .innerJoin('hires', (join) =>
      join
        .onRef('hires.tenant_id', '=', 'claims.tenant_id')
        .onRef('hires.job_candidate_id', '=', 'claims.job_candidate_id')
        .onRef('hires.period', '=', 'claims.period'),
    )
    .select(['claims.tenant_id', 'claims.job_candidate_id', 'claims.period'])
    .distinct()
    .where('claims.tenant_id', '=', tenantId)
    .where('claims.how', 'is', null)
    .where('hires.state', '=', 'open')
    .where('hires.employee_id', 'is', null)
    .execute();
  for (const ref of held.map(hireOf)) await releaseClaim(store, ref);
}

/** The tenant is back, and its hires go on: it settles by itself what became of their creates. */
export async function takeClaimsBack({ kysely }: Store, tenantId: string): Promise<void> {
  await kysely
    .updateTable('claims')
    .set({ how: null, recorded: null })
    .where('tenant_id', '=', tenantId)
    .where('how', '=', 'removed')
    .execute();
}

/** A hire that hirebridge did not make: the person may be an employee whom it does not know. */
export interface RecordedAs extends HireRef {
  how: RecordedHow;
}

/** Rows a statement: databases bound the number of its parameters. */
const MOST_ROWS = 500;

/** Notes people who were hired without hirebridge. Whoever holds one of them already does so still. */
export async function recordPeople(
  store: Store,
  people: ReadonlyArray<{ person: Person; as: RecordedAs }>,
): Promise<void> {
  // A person may have several applications; Postgres changes no row twice in a statement.
  const once = new Map(people.map((one) => [one.person.candidateId, one]));
  const rows = [...once.values()].map(({ person, as }) => ({
    connection: person.connection,
    partner_company: person.partnerCompany,
    candidate_id: person.candidateId,
    ...hireColumns(as),
    claimed_at: store.now,
    how: as.how,
    recorded: JSON.stringify(as),
  }));
  for (let from = 0; from < rows.length; from += MOST_ROWS)
    await store.kysely
      .insertInto('claims')
      .values(rows.slice(from, from + MOST_ROWS))
      .onConflict((c) =>
        c
          .columns(['connection', 'partner_company', 'candidate_id'])
          .doUpdateSet((eb) => ({ recorded: eb.fn.coalesce('claims.recorded', 'excluded.recorded') })),
      )
      .execute();
}

/**
 * Hands a person's claim from a hire that is over (its employee is linked, or it was only recorded) to the open hire
 * that somebody decided on.
 * A claim that another hire took meanwhile stays there.
 */
export async function moveClaim(store: Store, person: Person, from: HireRef, to: HireRef): Promise<void> {
  await store.kysely
    .updateTable('claims')
    .set({
      ...hireColumns(to),
      claimed_at: store.now,
      how: null,
    })
    .where('connection', '=', person.connection)
    .where('partner_company', '=', person.partnerCompany)
    .where('candidate_id', '=', person.candidateId)
    .where((eb) => eb.and(hireColumns(from)))
    .where((eb) => eb.exists(openHire(store, to).select('hires.period')))
    .execute();
}

/** Every employee this person is linked to, newest first. */
export async function linksOfPerson(store: Store, person: Person): Promise<LinkRow[]> {
  return store.kysely
    .selectFrom('links')
    .selectAll()
    .where('connection', '=', person.connection)
    .where('partner_company', '=', person.partnerCompany)
    .where('candidate_id', '=', person.candidateId)
    .orderBy('linked_at', 'desc')
    .execute();
}

/**
 * Records that this hire's person is this employee; the employee of another person stays that person's. Says whose it
 * is now.
 */
export async function linkEmployee(
  store: Store,
  person: Person,
  key: HireRef,
  employee: { id: string; number: string | null },
): Promise<LinkRow> {
  return store.kysely
    .insertInto('links')
    .values({
      connection: person.connection,
      employee_id: employee.id,
      employee_number: employee.number,
      partner_company: person.partnerCompany,
      candidate_id: person.candidateId,
      ...hireColumns(key),
      linked_at: store.now,
    })
    .onConflict((c) =>
      c
        .columns(['connection', 'employee_id'])
        .doUpdateSet({ employee_number: sql`coalesce(excluded.employee_number, links.employee_number)` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** An employee's person has this candidate id at the partner from now on: somebody said that both are one human. */
export async function renamePerson(
  store: Store,
  employee: { connection: string; id: string },
  { partnerCompany, candidateId }: Person,
): Promise<void> {
  await store.kysely
    .updateTable('links')
    .set({ partner_company: partnerCompany, candidate_id: candidateId })
    .where('connection', '=', employee.connection)
    .where('employee_id', '=', employee.id)
    .execute();
}

/** Whether a link is of this person. */
export function isSamePerson(link: LinkRow, { partnerCompany, candidateId }: Person): boolean {
  return link.partner_company === partnerCompany && link.candidate_id === candidateId;
}

export async function linkOfEmployee(
  store: Store,
  connection: string,
  employeeId: string,
): Promise<LinkRow | undefined> {
  return store.kysely
    .selectFrom('links')
    .selectAll()
    .where('connection', '=', connection)
    .where('employee_id', '=', employeeId)
    .executeTakeFirst();
}
