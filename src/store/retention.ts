import { type ExpressionBuilder, sql } from 'kysely';
import { purgeBatches } from './foreign-writes.ts';
import { changedRows, didChange, has, onceNow, PURGED, type Store } from './open-store.ts';
import type { Tables } from './schema.ts';

/** Rows cleared by one statement. */
const BATCH = 1_000;
/** How long one call continues with further statements, ms: a fleet's daily deliveries are cleared within minutes. */
const BUDGET_MS = 3_000;

/** Clears the bodies of older deliveries, which hold personal data; their ids are kept in another column. */
export function purgeBodies(store: Store, afterMs: number, stop?: AbortSignal): Promise<number> {
  const old = oldBodies(store).where('received_at', '<=', ago(store, afterMs)).limit(BATCH);
  const inbox = store.kysely.with('old', () => old).updateTable('inbox');
  return inBatches(stop, () => changedRows(inbox.set({ body: '' }).where(isOld)));
}

/**
 * Deletes the rows of older deliveries that are finished and whose bodies are cleared; waiting ones stay. A row keeps a
 * repeated delivery from being relayed again. Without it a repeat is only a hint and starts nothing: `hires` says which
 * hires exist, and the partner says whether a person is hired now.
 */
export function purgeDeliveries(store: Store, afterMs: number, stop?: AbortSignal): Promise<number> {
  const old = oldDeliveries(store).where('received_at', '<=', ago(store, afterMs)).limit(BATCH);
  const inbox = store.kysely.with('old', () => old).deleteFrom('inbox');
  return inBatches(stop, () => changedRows(inbox.where(isOld)));
}

/** Clears until nothing is left or the time is used up; the next round clears the rest. */
async function inBatches(stop: AbortSignal | undefined, clear: () => Promise<number>): Promise<number> {
  const until = performance.now() + BUDGET_MS;
  for (let all = 0; ; ) {
    const some = await clear();
    all += some;
    if (some < BATCH || performance.now() > until || stop?.aborted) return all;
  }
}

/** Data that should have been cleared by now. */
export interface Overdue {
  /** The tenant of the oldest such row. */
  tenantId: string;
  what: 'bodies' | 'deliveries';
  /** When that row arrived, milliseconds by the database's clock. */
  receivedAt: number;
}

/** The oldest delivery that `purge...` should have deleted, and the oldest body that it should have cleared. */
export async function listOverdue(store: Store, after: { bodiesMs: number; deliveriesMs: number }): Promise<Overdue[]> {
  const oldest = async (what: Overdue['what'], old: ReturnType<typeof oldBodies>, afterMs: number) => {
    const rows = await old.select('received_at').where('received_at', '<=', ago(store, afterMs)).limit(1).execute();
    return rows.map((row): Overdue => ({ what, tenantId: row.tenant_id, receivedAt: row.received_at }));
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
 * Clears plans, names by rule and enrolment requests of a tenant's hires that ended longer ago, and words about a
 * refusal that no question took. Other requests keep their ids and last day, by which a reopened hire must recognise
 * them.
 */
export async function purgePlans(store: Store, tenantId: string, afterMs: number): Promise<number> {
  const { plans, intents } = pinnedOf(store, tenantId);
  const names = store.kysely.deleteFrom('unique_names').where('tenant_id', '=', tenantId);
  const words = store.kysely.deleteFrom('refusals').where('tenant_id', '=', tenantId);
  return (
    (await changedRows(names.where((eb) => eb.exists(hireOver(store, 'unique_names', afterMs))))) +
    (await changedRows(words.where('refused_at', '<=', ago(store, afterMs)))) +
    (await changedRows(plans.where((eb) => eb.exists(hireOver(store, 'plans', afterMs))))) +
    (await changedRows(intents.where((eb) => eb.exists(hireOver(store, 'intents', afterMs)))))
  );
}

/** Updates that clear the content of a tenant's plans and enrolment requests. */
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

/**
 * Clears the values that hires and pairs of a tenant were made of, if it was removed longer ago: nothing of it
 * continues, whatever its rows say. If it is applied again, it reads both sides as for the first time.
 */
export async function purgeRemoved(store: Store, tenantId: string, afterMs: number): Promise<number> {
  const { kysely } = store;
  const removed = kysely
    .selectFrom('tenants')
    .select('tenant_id')
    .where(has({ tenant_id: tenantId, state: 'removed' }))
    .where('removed_at', '<=', ago(store, afterMs));
  if ((await removed.executeTakeFirst()) === undefined) return 0;
  const { plans, intents } = pinnedOf(store, tenantId);
  let cleared = (await changedRows(plans)) + (await changedRows(intents));
  const emptied = ['exchange_pairs', 'field_conflicts', 'lookup_rows', 'jobs', 'unique_names', 'refusals'] as const;
  for (const table of emptied) cleared += await changedRows(kysely.deleteFrom(table).where('tenant_id', '=', tenantId));
  return cleared;
}

/** The hire of a row in this table, if it ended that long ago. */
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
 * Forgets older writes about people who became no employee: landed records, and writes of hires that ended without an
 * employee. Writes of a hire with an employee stay, so that nobody is hired twice.
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
  const purged = kysely.deleteFrom('purged_writes').where('page_id', 'in', pages);
  const landed = await inBatches(stop, () => changedRows(purged));
  // Start from the hires: the rows of employees stay for good and grow without bound.
  const rows = kysely
    .selectFrom('hires')
    .crossJoin('foreign_writes')
    .select(['foreign_writes.batch_id', 'foreign_writes.record_id', 'foreign_writes.target'])
    .where(has({ 'hires.tenant_id': tenantId, 'hires.employee_id': null }))
    .where('hires.ended_at', '<=', ago(store, afterMs))
    .where('foreign_writes.tenant_id', '=', tenantId)
    .whereRef('foreign_writes.record_id', '=', 'hires.job_candidate_id')
    .whereRef('foreign_writes.period', '=', 'hires.period')
    .where('foreign_writes.purged_at', 'is not', null)
    .where('foreign_writes.sent_at', '<=', ago(store, afterMs))
    .limit(BATCH);
  const ofHires = kysely
    .deleteFrom('foreign_writes')
    .where(({ eb, refTuple }) =>
      eb(refTuple('batch_id', 'record_id', 'target'), 'in', rows.$asTuple('batch_id', 'record_id', 'target')),
    );
  return landed + (await inBatches(stop, () => changedRows(ofHires)));
}

/** Clears the values of older writes to partner and HR system; names and times stay. Deletes plans made by a person. */
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
  const plans = store.kysely.selectFrom('saved_plans').select('plan_hash').where('tenant_id', '=', tenantId);
  const old = await plans.where('planned_at', '<=', ago(store, afterMs)).execute();
  // A plan without its records would be applied as if it had nothing to write, and nothing finds records without one.
  for (const { plan_hash: hash } of old)
    await store.kysely.transaction().execute(async (trx) => {
      const plan = trx.deleteFrom('saved_plans').where('plan_hash', '=', hash);
      // Somebody may have made it again.
      if (await didChange(plan.where('planned_at', '<=', ago(store, afterMs))))
        await trx.deleteFrom('saved_plan_records').where('plan_hash', '=', hash).execute();
    });
  return writes;
}
