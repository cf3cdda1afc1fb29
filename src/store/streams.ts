import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { StreamRow, Tables } from './schema.ts';
import type { StreamMode } from './stream-tables.ts';

export interface StreamKey {
  tenantId: string;
  stream: string;
}

/** Counts of one page, to be added to a run's. */
export interface PageCounts {
  unchanged: number;
  created: number;
  updated: number;
  quarantined: number;
  skipped?: number;
}

/** A new run. `full` writes every row again, whatever its hash says. */
export interface NewRun {
  runId: string;
  full: boolean;
  firstPage: number;
  /** `full` if absent. */
  mode?: StreamMode;
}

/** The changes of one page to its run. */
export interface CommittedPage {
  /** How many records the run had read before: if the number is different by now, nothing is changed. */
  seenSoFar?: number;
  next: number;
  records: number;
  /** Null if the next page begins another part of the list. */
  total: number | null | undefined;
  counts: PageCounts;
  state: StreamRow['state'];
  segment?: { number: number; seenBefore: number };
  tally?: string;
}

/** A run that wrote nothing for this long counts as dead; if it lives, its next page notices that it was replaced. */
const STALE_MS = 120_000;

export async function readStream(store: Store, key: StreamKey): Promise<StreamRow | undefined> {
  return store.kysely
    .selectFrom('streams')
    .selectAll()
    .where('tenant_id', '=', key.tenantId)
    .where('stream', '=', key.stream)
    .executeTakeFirst();
}

/** The latest run of every stream of every tenant, by their names. */
export async function listStreams({ kysely }: Store, tenantIds?: readonly string[]): Promise<StreamRow[]> {
  const query = kysely.selectFrom('streams').selectAll().orderBy('tenant_id').orderBy('stream');
  return (tenantIds === undefined ? query : query.where('tenant_id', 'in', tenantIds)).execute();
}

/**
 * How long ago the latest run of each stream last progressed, and the outcome of its records; without `byTenant`, the
 * oldest time and the sums over all tenants.
 */
export async function sumStreams({ kysely, now }: Store, { byTenant }: { byTenant: boolean }) {
  const tenant = byTenant ? sql<string>`streams.tenant_id` : sql<string>`''`;
  const rows = await kysely
    .selectFrom('streams')
    .innerJoin('tenants', 'tenants.tenant_id', 'streams.tenant_id')
    .where('tenants.state', '!=', 'removed')
    .select(({ fn }) => [
      tenant.as('tenantId'),
      'stream',
      sql<number>`max(${now} - streams.updated_at)`.as('ageMs'),
      fn.sum<number>('created').as('created'),
      fn.sum<number>('updated').as('updated'),
      fn.sum<number>('unchanged').as('unchanged'),
      fn.sum<number>('quarantined').as('quarantined'),
      fn.sum<number>('held').as('held'),
    ])
    .groupBy(byTenant ? ['streams.tenant_id', 'stream'] : 'stream')
    .execute();
  return rows.map(({ tenantId, stream, ageMs, ...records }) => ({
    tenantId,
    stream,
    ageMs: Number(ageMs),
    records: Object.entries(records).map(([outcome, count]) => ({ outcome, count: Number(count) })),
  }));
}

/**
 * The run with this id; begins it if it is new. It continues at the cursor of a full pass that died, unless it rewrites
 * every row or reads a single record. Undefined while another run of this stream is in progress.
 */
export async function beginRun(store: Store, key: StreamKey, run: NewRun): Promise<StreamRow | undefined> {
  const known = await readStream(store, key);
  if (known?.run_id === run.runId) return known;
  return store.kysely.transaction().execute(async (trx) => {
    const own = trx.selectFrom('streams').selectAll().select(store.now.as('now'));
    const query = own.where('tenant_id', '=', key.tenantId).where('stream', '=', key.stream);
    const row = await (store.kind === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
    const open = row?.state === 'running';
    if (open && row.updated_at + STALE_MS > Number(row.now)) return undefined;
    const takesUp = open && !run.full && run.mode !== 'one' && (row.mode ?? 'full') === 'full';
    const again = takesUp ? { run_id: run.runId, updated_at: store.now } : { ...fresh(run), ...times(store.now) };
    return trx
      .insertInto('streams')
      .values({ tenant_id: key.tenantId, stream: key.stream, ...fresh(run), ...times(store.now) })
      .onConflict((c) => c.columns(['tenant_id', 'stream']).doUpdateSet(again))
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** Stores the parts that a run's list has. A later attempt keeps the stored parts; returns them. */
export async function keepParts(store: Store, key: StreamKey, runId: string, parts: string): Promise<string> {
  const update = store.kysely.updateTable('streams').set({ cursor: parts }).where(isUnderWay(key, runId));
  await update.where('cursor', 'is', null).execute();
  const run = await readStream(store, key);
  return run?.run_id === runId ? (run.cursor ?? parts) : parts;
}

/**
 * Moves a run's cursor past a page whose rows are written. False if another run took over, or another attempt of the
 * same activity was first.
 */
export async function commitPage(store: Store, key: StreamKey, runId: string, page: CommittedPage): Promise<boolean> {
  const { counts, state, segment, tally } = page;
  const result = await store.kysely
    .updateTable('streams')
    .set((eb) => ({
      page: page.next,
      seen: eb('seen', '+', page.records),
      ...(page.total === undefined ? {} : { total: page.total }),
      unchanged: eb('unchanged', '+', counts.unchanged),
      created: eb('created', '+', counts.created),
      updated: eb('updated', '+', counts.updated),
      quarantined: eb('quarantined', '+', counts.quarantined),
      skipped: eb('skipped', '+', counts.skipped ?? 0),
      ...(segment === undefined ? {} : { segment: segment.number, seen_before: segment.seenBefore }),
      ...(tally === undefined ? {} : { tally }),
      updated_at: store.now,
      state,
      ...(state === 'running' ? {} : { ended_at: store.now }),
    }))
    .where(isUnderWay(key, runId))
    .where((eb) => (page.seenSoFar === undefined ? eb.lit(true) : eb('seen', '=', page.seenSoFar)))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends a run that cannot continue until a person removes the cause. */
export async function refuseRun(
  store: Store,
  key: StreamKey,
  runId: string,
  why: { code: string; message: string; held?: number },
): Promise<void> {
  await store.kysely
    .updateTable('streams')
    .set({
      held: why.held ?? 0,
      state: 'refused',
      refused_code: why.code,
      refused_message: why.message,
      ended_at: store.now,
    })
    .where(isUnderWay(key, runId))
    .execute();
}

/** Condition for everything that a run writes: no row matches once the run is over or was replaced. */
export function isUnderWay({ tenantId, stream }: StreamKey, runId: string) {
  return (eb: ExpressionBuilder<Tables, 'streams'>): Expression<SqlBool> =>
    eb.and({ tenant_id: tenantId, stream, run_id: runId, state: 'running' });
}

function fresh({ runId, full, firstPage, mode = 'full' }: NewRun) {
  return {
    run_id: runId,
    state: 'running' as const,
    is_full: full ? 1 : 0,
    page: firstPage,
    seen: 0,
    total: null,
    unchanged: 0,
    created: 0,
    updated: 0,
    quarantined: 0,
    mode,
    segment: 0,
    seen_before: 0,
    skipped: 0,
    held: 0,
    tally: null,
    cursor: null,
    refused_code: null,
    refused_message: null,
  };
}

function times(now: Store['now']) {
  return { started_at: now, updated_at: now, ended_at: null };
}
