import { sql } from 'kysely';
import {
  type Employee,
  type EndState,
  followedStates,
  type HireRef,
  type HireState,
  type HireStep,
  hireStates,
  isSameHire,
  restingStates,
} from '../hire/hire.ts';
import { forgetPair } from './exchange-pairs.ts';
import { FLEET } from './freezes.ts';
import { addHints } from './hints.ts';
import { hireBehind, hiresWith } from './hires.ts';
import { closeHoldsOf } from './holds.ts';
import { has, hireColumns, hireOf, inTransaction, locked, ofHire, type Store } from './open-store.ts';
import { leaveEmployee, releasePeople } from './people.ts';
import { changePerson } from './persons.ts';
import type { HireRow } from './schema.ts';

/**
 * Ends a hire that is in one of these states; an ended hire stays as it is. If its person left, an employee whom the
 * hire took over goes back to the other hire that still has them. The hire's holds close as well, since no workflow
 * would read their answers. Returns whether it ended now.
 */
export async function endHire(
  store: Store,
  key: HireRef,
  state: EndState,
  from: readonly HireState[] = ['open'],
): Promise<boolean> {
  return inTransaction(store, async (open) => {
    const ended = await open.kysely
      .updateTable('hires')
      .set({ state, step: 'ended', ended_at: store.now, updated_at: store.now })
      .where(ofHire(key))
      .where('state', 'in', from)
      .returningAll()
      .executeTakeFirst();
    if (ended !== undefined) await closeHoldsOf(open, key);
    if (state === 'left' && ended !== undefined) {
      await leaveEmployee(open, ended);
      // A reconcile that saw the person in the stage before took the hire as going on: list their job again.
      if (ended.job_id !== null) await addHints(open, key.tenantId, 'people', [ended.job_id]);
    }
    return ended !== undefined;
  });
}

/**
 * The HR system deleted this employee, and the id is another person's by now: the hires that had it end without one,
 * and the next hire of their person asks. False while one of them is open, because that one asks about the employee.
 */
export function endLost(store: Store, lost: { employee: Employee; hire: HireRef }): Promise<boolean> {
  const { employee } = lost;
  return inTransaction(store, async (open) => {
    const { kysely } = open;
    const had = await hiresWith(open, employee, hireStates);
    if (had.some(({ state }) => state === 'open')) return false;
    for (const hire of had.map(hireOf)) {
      await endHire(open, hire, 'kept', ['done']);
      await releasePeople(open, hire, true);
      const none = { employee_id: null, employee_number: null, connection: null };
      await kysely.updateTable('hires').set(none).where(ofHire(hire)).execute();
    }
    for (const tenantId of new Set([lost.hire.tenantId, ...had.map((row) => row.tenant_id)])) {
      const known = has({ tenant_id: tenantId, employee_id: employee.id });
      await kysely.deleteFrom('employments').where(known).execute();
      for (const stream of ['employees', 'amendments'] as const)
        await forgetPair(open, { tenantId, stream, pairId: employee.id });
    }
    await changePerson(open, { employee }, { kind: 'lose', employee });
    return true;
  });
}

/**
 * Ends a period as `left` because a later one of the same application is known. If it has no employee, it releases its
 * person: the later one began only after it had ended, so the outcome of its create was known by then.
 */
export async function endEarlier(store: Store, row: HireRow): Promise<void> {
  if (row.state === 'left') return;
  await inTransaction(store, async (open) => {
    await endHire(open, hireOf(row), 'left', [...followedStates, ...restingStates]);
    if (row.employee_id === null) await releasePeople(open, hireOf(row));
  });
}

/**
 * Ends periods of this application that stayed open although this later one has begun: after a restore two processes
 * may open both at once, and no workflow follows the earlier one.
 */
export async function endOutlived(store: Store, { tenant_id, job_candidate_id, period }: HireRow): Promise<void> {
  if (period === 1) return;
  const outlived = await store.kysely
    .selectFrom('hires')
    .selectAll()
    .where(has({ tenant_id, job_candidate_id, state: 'open' }))
    .where('period', '<', period)
    .execute();
  for (const row of outlived) await endEarlier(store, row);
}

/**
 * Reopens a resting hire or marks it left, if its row is still as it was read. A reopened hire ignores earlier answers;
 * the employee of one that left goes back as in `endHire`.
 */
export async function moveResting(store: Store, seen: HireRow, state: 'open' | 'left'): Promise<void> {
  await inTransaction(store, async (open) => {
    const moved = await open.kysely
      .updateTable('hires')
      .set({ state, updated_at: store.now, ...(state === 'open' ? openedAgain(store) : { step: 'ended' as const }) })
      .where(has({ ...hireColumns(hireOf(seen)), state: seen.state, updated_at: seen.updated_at }))
      .returningAll()
      .executeTakeFirst();
    if (state === 'left' && moved !== undefined) await leaveEmployee(open, moved);
  });
}

function openedAgain(store: Store) {
  return { step: 'enrol' as const, opened_at: store.now, ended_at: null };
}

/** Whether another hire in one of these states, of any tenant, has this employee; hires in `besides` do not count. */
export async function hasSuccessor(
  store: Store,
  employee: Employee,
  { besides, states }: { besides: readonly HireRef[]; states: readonly HireState[] },
): Promise<boolean> {
  const rows = await hiresWith(store, employee, states);
  return rows.map(hireOf).some((row) => besides.every((one) => !isSameHire(one, row)));
}

/** The row, locked until the transaction ends. */
export async function lockHire(store: Store, key: HireRef): Promise<Pick<HireRow, 'state' | 'updated_at'>> {
  const own = store.kysely.selectFrom('hires').select(['state', 'updated_at']).where(ofHire(key));
  const row = await locked(store, own).executeTakeFirst();
  if (row === undefined) throw hireBehind(key);
  return row;
}

/** The tenant's next open hires, ordered by id. */
export async function openHiresAfter(
  store: Store,
  tenantId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await store.kysely
    .selectFrom('hires')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, state: 'open' }))
    .where('job_candidate_id', '>', after)
    .orderBy('job_candidate_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.job_candidate_id);
}

/** Open hires that did not change for `quietMs`, oldest first. */
export async function openHiresSince({ kysely, now }: Store, tenantId: string, quietMs: number): Promise<string[]> {
  const rows = await kysely
    .selectFrom('hires')
    .select('job_candidate_id')
    .where(has({ tenant_id: tenantId, state: 'open' }))
    .where('updated_at', '<=', sql<number>`${now} - ${sql.lit(quietMs)}`)
    .orderBy('opened_at')
    .execute();
  return rows.map((row) => row.job_candidate_id);
}

/** Those whom the baseline recorded as hired before go-live, and whose record could be read. */
export async function baselineHires(
  store: Store,
  tenantId: string,
): Promise<{ jobCandidateId: string; jobId: string | null }[]> {
  return (
    store.kysely
      .selectFrom('hires')
      .select(['job_candidate_id as jobCandidateId', 'job_id as jobId'])
      .where(has({ tenant_id: tenantId, state: 'before-go-live' }))
      .where('candidate_id', 'is not', null)
      // What was only observed or passed over since was not recorded by the baseline.
      .where('observed', 'is', null)
      .where('passed_over', 'is', null)
      .execute()
  );
}

/** Steps that wait neither for the candidate nor for an operator to buy credits or confirm a departure. */
const OWN_STEPS: readonly HireStep[] = ['enrol', 're-enrol', 'employ', 'write-back'];

/**
 * When a hire last stopped waiting for a person: it was opened, its onboarding reached its present status, or a person
 * answered.
 */
function onItsOwnSince({ kind, now }: Store) {
  const answered = sql`(select max(coalesce(answered_at, closed_at, ${now})) from holds
    where ${sameHireAs('holds')})`;
  const newest = sql.raw(kind === 'postgres' ? 'greatest' : 'max');
  return sql<number>`${newest}(opened_at, coalesce(onboarding_read_at, 0), coalesce(${answered}, 0))`;
}

/** How long this hire waited for no person, ms, minus the time that the HR system took to finish a create. */
export async function ownTimeOf(store: Store, key: HireRef): Promise<number> {
  const pending = sql<number>`coalesce(
    (select max(made.at) from person_keys as made where made.kind = 'employee' and ${sameHireAs('made')})
    - (select max(sent.decided_at) from intents as sent
       where sent.verb = 'create-employee' and sent.outcome = 'done' and ${sameHireAs('sent')}), 0)`;
  const row = await store.kysely
    .selectFrom('hires')
    .select(sql<number>`${store.now} - ${onItsOwnSince(store)} - ${pending}`.as('ms'))
    .where(ofHire(key))
    .executeTakeFirst();
  return Math.max(0, Number(row?.ms ?? 0));
}

/** Compares a row of this table with the hire of the statement. */
function sameHireAs(table: string) {
  return sql.raw(`${table}.tenant_id = hires.tenant_id and ${table}.job_candidate_id = hires.job_candidate_id
    and ${table}.period = hires.period`);
}

/**
 * For each tenant, how long (ms) its oldest open hire that waits for no person has done so. Leaves out tenants without
 * such hires, and paused or frozen tenants. One index lookup per tenant.
 */
export async function oldestOwnTimes(store: Store): Promise<{ tenantId: string; ms: number }[]> {
  const rows = await store.kysely
    .selectFrom('tenants')
    .select((eb) => [
      'tenants.tenant_id',
      eb
        .selectFrom('hires')
        .select(sql<number | null>`max(${store.now} - ${onItsOwnSince(store)})`.as('ms'))
        .whereRef('hires.tenant_id', '=', 'tenants.tenant_id')
        .where('hires.state', '=', 'open')
        .where('hires.step', 'in', OWN_STEPS)
        // Before its create a hire may wait for the stage in policies.createAt, after it for the HR system.
        .where(
          sql<boolean>`(hires.step <> 'employ' or exists (select 1 from intents as sent
            where sent.verb = 'create-employee' and sent.outcome <> 'done' and ${sameHireAs('sent')}))`,
        )
        .where(
          sql<boolean>`not exists (select 1 from holds where ${sameHireAs('holds')}
            and holds.closed_at is null and holds.answered_at is null)`,
        )
        .as('ms'),
    ])
    .where('tenants.state', '=', 'active')
    .where(sql<boolean>`not exists (select 1 from freezes where freezes.tenant_id in (tenants.tenant_id, ${FLEET}))`)
    .execute();
  return rows.flatMap(({ tenant_id: tenantId, ms }) => (ms === null ? [] : [{ tenantId, ms: ms }]));
}
