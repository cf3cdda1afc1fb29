import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { audit } from './audit.ts';
import { didChange, given, has, inTransaction, locked, put, type Store } from './open-store.ts';
import type { Row, StreamRow, Tables } from './schema.ts';
import type { StreamMode } from './stream-tables.ts';

export interface StreamKey {
  tenantId: string;
  stream: string;
}

/** For `where`: rows of this stream. */
export function ofStream({ tenantId, stream }: StreamKey) {
  return has({ tenant_id: tenantId, stream });
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
  return store.kysely.selectFrom('streams').selectAll().where(ofStream(key)).executeTakeFirst();
}

/** The latest run of every stream of every tenant, by their names. */
export async function listStreams({ kysely }: Store, tenantIds?: readonly string[]): Promise<StreamRow[]> {
  const all = kysely.selectFrom('streams').selectAll().orderBy('tenant_id').orderBy('stream');
  return all.$call(given({ tenant_id: tenantIds })).execute();
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
    ageMs: ageMs,
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
    const row = await locked(store, own.where(ofStream(key))).executeTakeFirst();
    const open = row?.state === 'running';
    if (open && row.updated_at + STALE_MS > row.now) return undefined;
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
  return didChange(
    store.kysely
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
      .where((eb) => (page.seenSoFar === undefined ? eb.lit(true) : eb('seen', '=', page.seenSoFar))),
  );
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

export type StreamState = Row<'stream_states'>;

/** Undefined if the stream was never paused, held or read in full. */
export async function readStreamState(store: Store, key: StreamKey): Promise<StreamState | undefined> {
  return store.kysely.selectFrom('stream_states').selectAll().where(ofStream(key)).executeTakeFirst();
}

export async function listStreamStates({ kysely }: Store, tenantIds?: readonly string[]): Promise<StreamState[]> {
  const all = kysely.selectFrom('stream_states').selectAll();
  return all.$call(given({ tenant_id: tenantIds })).execute();
}

/** Stops a stream until `resumeStream`. False if it is paused already. */
export async function pauseStream(store: Store, key: StreamKey, by: string): Promise<boolean> {
  if ((await readStreamState(store, key))?.paused_at) return false;
  return inTransaction(store, async (own) => {
    await change(own, key, { paused_by: by, paused_at: store.now });
    await audit(own, { by, tenantId: key.tenantId, act: 'stream-paused', details: key.stream });
    return true;
  });
}

/** Stops a stream whose run would have changed too much; its message stays until a person resumes it. */
export async function holdStream(store: Store, key: StreamKey, why: { code: string; message: string }): Promise<void> {
  await change(store, key, { held_code: why.code, held_message: why.message, held_at: store.now });
}

/**
 * Ends a pause or a hold. The held change is allowed in the next full pass, along with earlier allowances that no pass
 * has used. False if the stream was neither paused nor held.
 */
export async function resumeStream(store: Store, key: StreamKey, by: string): Promise<boolean> {
  const state = await readStreamState(store, key);
  if (!state?.paused_at && !state?.held_code) return false;
  const codes = [...allowedCodes(state), ...(state.held_code === null ? [] : [state.held_code])];
  const allowed = state.held_code === null ? {} : { allowed_code: codes.join(' '), allowed_by: by };
  const over = { paused_by: null, paused_at: null, held_code: null, held_message: null, held_at: null };
  return inTransaction(store, async (own) => {
    await change(own, key, { ...over, ...allowed });
    const details = [key.stream, state.held_code].filter(Boolean).join(' ');
    await audit(own, { by, tenantId: key.tenantId, act: 'stream-resumed', details });
    return true;
  });
}

/** The change limits that the stream is held for. */
export function heldCodes(state: Pick<StreamState, 'held_code'> | undefined): string[] {
  return state?.held_code?.split(' ') ?? [];
}

/** A code with `:` names the only part of the stream that is held or allowed; the other parts go on. */
export function isOfPart(code: string): boolean {
  return code.includes(':');
}

/** Drops the holds of parts that the stream no longer has. */
export async function forgetHeld(store: Store, key: StreamKey, gone: readonly string[]): Promise<void> {
  const held = heldCodes(await readStreamState(store, key));
  const kept = held.filter((code) => !gone.includes(code));
  if (kept.length === held.length) return;
  const none = { held_code: null, held_message: null, held_at: null };
  await change(store, key, kept.length === 0 ? none : { held_code: kept.join(' ') });
}

/** Whether a run was refused for a reason that the hold does not name. */
export function isRefusedBeside(
  run: { state: string; refused_code: string | null } | undefined,
  state: Pick<StreamState, 'held_code'> | undefined,
): boolean {
  const held = heldCodes(state);
  return run?.state === 'refused' && held.every((one) => isOfPart(one) && one.split(':')[0] !== run.refused_code);
}

/** The change limits that a person lifted for the next full pass. */
export function allowedCodes(state: Pick<StreamState, 'allowed_code'> | undefined): string[] {
  return state?.allowed_code?.split(' ') ?? [];
}

/** Records a finished pass over the whole list. A person's allowance applied to this pass only. */
export async function completePass(
  store: Store,
  key: StreamKey,
  pass: Pick<StreamState, 'whole_at' | 'listed' | 'landed' | 'mapping_hash' | 'unshown'>,
): Promise<void> {
  await change(store, key, { ...pass, allowed_code: null, allowed_by: null });
  await keepPass(store, key, pass);
}

/** How many passes of a stream are kept for display. */
const MOST_PASSES = 60;

/** Stores a pass with the counts of its run; if another run took over, nothing is stored. */
async function keepPass(
  { kysely, now }: Store,
  { tenantId, stream }: StreamKey,
  { whole_at, listed, landed }: Pick<StreamState, 'whole_at' | 'listed' | 'landed'>,
): Promise<void> {
  if (whole_at === null) return;
  const of = { tenant_id: tenantId, stream };
  await kysely
    .insertInto('stream_passes')
    .columns(['tenant_id', 'stream', 'began_at', 'ended_at', 'listed', 'landed', 'created', 'updated', 'quarantined'])
    .expression((eb) =>
      eb
        .selectFrom('streams')
        .select(['tenant_id', 'stream', eb.val(whole_at).as('began_at'), now.as('ended_at')])
        .select([eb.val(listed ?? 0).as('listed'), eb.val(landed ?? 0).as('landed')])
        .select(['created', 'updated', 'quarantined'])
        .where(has(of)),
    )
    .onConflict((c) => c.doNothing())
    .execute();
  await kysely
    .deleteFrom('stream_passes')
    .where(has(of))
    .where('began_at', '<=', (eb) =>
      eb
        .selectFrom('stream_passes as kept')
        .select('kept.began_at')
        .where(has({ 'kept.tenant_id': tenantId, 'kept.stream': stream }))
        .orderBy('kept.began_at', 'desc')
        .limit(1)
        .offset(MOST_PASSES),
    )
    .execute();
}

/** The latest complete passes of a stream, oldest first. */
export async function listPasses({ kysely }: Store, key: StreamKey): Promise<StreamPass[]> {
  return kysely
    .selectFrom('stream_passes')
    .select(['began_at as beganAt', 'ended_at as endedAt', 'listed', 'landed', 'created', 'updated', 'quarantined'])
    .where(ofStream(key))
    .orderBy('began_at')
    .execute();
}

/** The result of a pass over the whole list: the number of records on both sides, and what it wrote. */
export interface StreamPass {
  beganAt: number;
  endedAt: number;
  listed: number;
  landed: number;
  created: number;
  updated: number;
  quarantined: number;
}

/**
 * Records that a full exchange with this mapping finished. Returns the change limits that a person had lifted for it.
 */
export async function completeExchange(store: Store, key: StreamKey, mappingHash: string): Promise<string[]> {
  const state = await readStreamState(store, key);
  const allowed = allowedCodes(state);
  if (allowed.length > 0 || state?.mapping_hash !== mappingHash)
    await change(store, key, { mapping_hash: mappingHash, allowed_code: null, allowed_by: null });
  return allowed;
}

/** Drops allowances for a run that is over: all of them, or those that the run has `seen`. */
export async function forgetAllowed(store: Store, key: StreamKey, seen?: readonly string[]): Promise<void> {
  const allowed = allowedCodes(await readStreamState(store, key));
  const kept = seen === undefined ? [] : allowed.filter((code) => !seen.includes(code));
  if (kept.length === allowed.length) return;
  await change(
    store,
    key,
    kept.length === 0 ? { allowed_code: null, allowed_by: null } : { allowed_code: kept.join(' ') },
  );
}

type Times = 'paused_at' | 'held_at';
type Change = Partial<Omit<Row<'stream_states'>, 'tenant_id' | 'stream' | Times>> & {
  [Column in Times]?: Store['now'] | null;
};

async function change(store: Store, key: StreamKey, columns: Change): Promise<void> {
  const set = Object.keys(columns) as (keyof Change)[];
  const row = { tenant_id: key.tenantId, stream: key.stream, ...columns };
  await put(store, 'stream_states', [row], { key: ['tenant_id', 'stream'], set });
}
