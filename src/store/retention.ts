import { type ExpressionBuilder, sql } from 'kysely';
import { onceNow, type Store } from './open-store.ts';
import { PURGED } from './purged.ts';
import { purgeBatches } from './purged-writes.ts';
import type { Tables } from './schema.ts';

/** Rows that one statement clears. */
const BATCH = 1_000;
/** How long one call goes on with further statements, ms: a fleet's deliveries of a day are done in minutes. */
const BUDGET_MS = 3_000;

/** Clears the bodies of deliveries that came longer ago: they hold people, and their ids are kept beside them. */
export function purgeBodies(store: Store, afterMs: number, stop?: AbortSignal): Promise<number> {
  const old = oldBodies(store).where('received_at', '<=', ago(store, afterMs)).limit(BATCH);
  return inBatches(stop, async () => {
    const { numUpdatedRows } = await store.kysely
      .with('old', () => old)
      .updateTable('inbox')
      .set({ body: '' })
      .where(isOld)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  });
}

/**
 * Ends the rows of deliveries that came longer ago and are over, their bodies cleared. Those that wait stay. The row
 * keeps a repeated delivery from being relayed again; without it a repeat is a hint like any other, and starts nothing:
 * which hires there are is in `hires`, and whether somebody is hired now is asked of the partner.
 */
export function purgeDeliveries(store: Store, afterMs: number, stop?: AbortSignal): Promise<number> {
  const old = oldDeliveries(store).where('received_at', '<=', ago(store, afterMs)).limit(BATCH);
  return inBatches(stop, async () => {
    const { numDeletedRows } = await store.kysely
      .with('old', () => old)
      .deleteFrom('inbox')
      .where(isOld)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}

/** Clears until nothing is left to clear or the time is used up: whatever is left then is the next round's. */
async function inBatches(stop: AbortSignal | undefined, clear: () => Promise<number>): Promise<number> {
  const until = performance.now() + BUDGET_MS;
  for (let all = 0; ; ) {
    const some = await clear();
    all += some;
    if (some < BATCH || performance.now() > until || stop?.aborted) return all;
  }
}

/** What should have been cleared by now. */
export interface Overdue {
  /** Of the oldest such row. */
  tenantId: string;
  what: 'bodies' | 'deliveries';
  /** When that one came, milliseconds on the database's clock. */
  receivedAt: number;
}

/** The oldest delivery that should be gone, and the oldest whose body should, where `purge...` stays behind. */
export async function listOverdue(store: Store, after: { bodiesMs: number; deliveriesMs: number }): Promise<Overdue[]> {
  const oldest = async (what: Overdue['what'], old: ReturnType<typeof oldBodies>, afterMs: number) => {
    const rows = await old.select('received_at').where('received_at', '<=', ago(store, afterMs)).limit(1).execute();
    return rows.map((row): Overdue => ({ what, tenantId: row.tenant_id, receivedAt: Number(row.received_at) }));
  };
  return [
    ...(await oldest('bodies', oldBodies(store), after.bodiesMs)),
    ...(await oldest('deliveries', oldDeliveries(store), after.deliveriesMs)),
  ];
}

function oldBodies({ kysely }: Store) {
  return kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'body_hash'])
    .where('body', '!=', sql.lit(''))
    .orderBy('received_at');
}

function oldDeliveries({ kysely }: Store) {
  return kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'body_hash'])
    .where('body', '=', sql.lit(''))
    .where('state', '!=', sql.lit('waiting'))
    .orderBy('received_at');
}

function isOld({ eb, refTuple, selectFrom }: ExpressionBuilder<Tables & { old: OldDelivery }, 'inbox'>) {
  return eb(
    refTuple('tenant_id', 'body_hash'),
    'in',
    selectFrom('old').select(['tenant_id', 'body_hash']).$asTuple('tenant_id', 'body_hash'),
  );
}

interface OldDelivery {
  tenant_id: string;
  body_hash: string;
}

/**
 * Clears plans, names by rule and enrolment requests of a tenant's hires that were over longer ago. Other requests pin
 * ids and a last day: what somebody who opens the hire again must recognise.
 */
export async function purgePlans(store: Store, tenantId: string, afterMs: number): Promise<number> {
  const { plans, intents } = pinnedOf(store, tenantId);
  const names = await store.kysely
    .deleteFrom('unique_names')
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.exists(hireOver(store, 'unique_names', afterMs)))
    .executeTakeFirstOrThrow();
  const cleared = updated([
    await plans.where((eb) => eb.exists(hireOver(store, 'plans', afterMs))).executeTakeFirstOrThrow(),
    await intents.where((eb) => eb.exists(hireOver(store, 'intents', afterMs))).executeTakeFirstOrThrow(),
  ]);
  return cleared + Number(names.numDeletedRows);
}

/** Clears what a tenant's plans and enrolment requests say. */
function pinnedOf({ kysely }: Store, tenantId: string) {
  const plans = kysely
    .updateTable('plans')
    .set({ change: PURGED })
    .where('tenant_id', '=', tenantId)
    .where('change', '!=', sql.lit(PURGED));
  const intents = kysely
    .updateTable('intents')
    .set({ pinned: PURGED })
    .where('tenant_id', '=', tenantId)
    .where('verb', 'like', sql.lit('enrol:%'))
    .where('pinned', '!=', sql.lit(PURGED));
  return { plans, intents };
}

function updated(results: readonly { numUpdatedRows: bigint }[]): number {
  return results.reduce((sum, { numUpdatedRows }) => sum + Number(numUpdatedRows), 0);
}

/**
 * Clears what a tenant's hires and pairs were made of that was removed longer ago: nothing of it goes on, whatever its
 * rows say. Applied again, it reads what both sides hold as at a first meeting.
 */
export async function purgeRemoved(store: Store, tenantId: string, afterMs: number): Promise<number> {
  const { kysely } = store;
  const removed = kysely
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'removed')
    .where('removed_at', '<=', ago(store, afterMs));
  if ((await removed.executeTakeFirst()) === undefined) return 0;
  const { plans, intents } = pinnedOf(store, tenantId);
  let cleared = updated([await plans.executeTakeFirstOrThrow(), await intents.executeTakeFirstOrThrow()]);
  for (const table of ['exchange_pairs', 'field_conflicts', 'lookup_rows', 'jobs', 'unique_names'] as const) {
    const gone = await kysely.deleteFrom(table).where('tenant_id', '=', tenantId).executeTakeFirstOrThrow();
    cleared += Number(gone.numDeletedRows);
  }
  return cleared;
}

/** The hire of a row in this table, if it ended so long ago. */
function hireOver(store: Store, table: 'plans' | 'intents' | 'unique_names', afterMs: number) {
  return store.kysely
    .selectFrom('hires')
    .select('hires.period')
    .where('hires.tenant_id', '=', sql.ref<string>(`${table}.tenant_id`))
    .where('hires.job_candidate_id', '=', sql.ref<string>(`${table}.job_candidate_id`))
    .where('hires.period', '=', sql.ref<number>(`${table}.period`))
    .where('hires.ended_at', '<=', ago(store, afterMs));
}

function ago(store: Store, ms: number) {
  return sql<number>`${onceNow(store)} - ${sql.lit(ms)}`;
}

/**
 * Forgets what was written longer ago about whoever became no employee: which records landed, and what was written of
 * hires that ended without one. What a hire with an employee wrote stays: nobody is hired twice by it.
 */
export async function purgeWriteLog(
  store: Store,
  tenantId: string,
  afterMs: number,
  stop?: AbortSignal,
): Promise<number> {
  const { kysely } = store;
  const pages = kysely
    .selectFrom('purged_writes')
    .select('page_id')
    .where('tenant_id', '=', tenantId)
    .where('sent_at', '<=', ago(store, afterMs))
    .orderBy('sent_at')
    .limit(BATCH);
  const landed = await inBatches(stop, async () => {
    const { numDeletedRows } = await kysely
      .deleteFrom('purged_writes')
      .where('page_id', 'in', pages)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
  // From the hires on: rows of employees stay for good, and there is no end of them.
  const rows = kysely
    .selectFrom('hires')
    .crossJoin('foreign_writes')
    .select(['foreign_writes.batch_id', 'foreign_writes.record_id', 'foreign_writes.target'])
    .where('hires.tenant_id', '=', tenantId)
    .where('hires.employee_id', 'is', null)
    .where('hires.ended_at', '<=', ago(store, afterMs))
    .where('foreign_writes.tenant_id', '=', tenantId)
    .whereRef('foreign_writes.record_id', '=', 'hires.job_candidate_id')
    .whereRef('foreign_writes.period', '=', 'hires.period')
    .where('foreign_writes.purged_at', 'is not', null)
    .where('foreign_writes.sent_at', '<=', ago(store, afterMs))
    .limit(BATCH);
  const ofHires = await inBatches(stop, async () => {
    const { numDeletedRows } = await kysely
      .deleteFrom('foreign_writes')
      .where(({ eb, refTuple }) =>
        eb(refTuple('batch_id', 'record_id', 'target'), 'in', rows.$asTuple('batch_id', 'record_id', 'target')),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
  return landed + ofHires;
}

/** Clears the values of foreign writes made longer ago; names and times stay. Plans that a person made end. */
export async function purgeWrites(
  store: Store,
  tenantId: string,
  afterMs: number,
  stop?: AbortSignal,
): Promise<number> {
  const rows = store.kysely
    .selectFrom('foreign_writes')
    .select('batch_id')
    .where('tenant_id', '=', tenantId)
    .where('changes', '!=', sql.lit(PURGED))
    .where('sent_at', '<=', ago(store, afterMs))
    .orderBy('sent_at')
    .limit(BATCH);
  const writes = await inBatches(stop, async () => {
    const old = (await rows.execute()).map((row) => row.batch_id);
    await purgeBatches(store, [...new Set(old)]);
    return old.length;
  });
  const old = store.kysely
    .selectFrom('saved_plans')
    .select('plan_hash')
    .where('tenant_id', '=', tenantId)
    .where('planned_at', '<=', ago(store, afterMs));
  await store.kysely.deleteFrom('saved_plan_records').where('plan_hash', 'in', old).execute();
  // Without its records a plan would be applied as one that has nothing to write.
  await store.kysely.deleteFrom('saved_plans').where('plan_hash', 'in', old).execute();
  return writes;
}
