import { sql } from 'kysely';
import type { Employee } from '../hire/employee.ts';
import {
  type EndState,
  followedStates,
  type HireRef,
  type HireState,
  isSameHire,
  restingStates,
} from '../hire/hire.ts';
import { addHints } from './hints.ts';
import { hireColumns, hireOf } from './hire-columns.ts';
import { hireBehind, hiresWith } from './hires.ts';
import { closeHoldsOf } from './holds.ts';
import type { Store } from './open-store.ts';
import { leaveEmployee, releasePeople } from './people.ts';
import { inTransaction } from './persons.ts';
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
      .where((eb) => eb.and(hireColumns(key)))
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
 * Reopens a resting hire or marks it left, if its row is still as it was read. A reopened hire ignores earlier answers;
 * the employee of one that left goes back as in `endHire`.
 */
export async function moveResting(store: Store, seen: HireRow, state: 'open' | 'left'): Promise<void> {
  await inTransaction(store, async (open) => {
    const moved = await open.kysely
      .updateTable('hires')
      .set({ state, updated_at: store.now, ...(state === 'open' ? openedAgain(store) : { step: 'ended' as const }) })
      .where((eb) => eb.and(hireColumns(hireOf(seen))))
      .where('state', '=', seen.state)
      .where('updated_at', '=', seen.updated_at)
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
export async function lockHire(store: Store, key: HireRef): Promise<Pick<HireRow, 'state'>> {
  const row = store.kysely
    .selectFrom('hires')
    .select('state')
    .where((eb) => eb.and(hireColumns(key)));
  const locked = await (store.kind === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
  if (locked === undefined) throw hireBehind(key);
  return locked;
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
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'open')
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
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'open')
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
  const rows = await store.kysely
    .selectFrom('hires')
    .select(['job_candidate_id', 'job_id'])
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'before-go-live')
    .where('candidate_id', 'is not', null)
    // What was only observed or passed over since was not recorded by the baseline.
    .where('observed', 'is', null)
    .where('passed_over', 'is', null)
    .execute();
  return rows.map((row) => ({ jobCandidateId: row.job_candidate_id, jobId: row.job_id }));
}
