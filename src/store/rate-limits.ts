import { sql } from 'kysely';
import { inActivity } from '../failpoint.ts';
import type { Logger } from '../log.ts';
import type { SharedRateLimitState } from '../rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../rate-limit/shared-rate-limit.ts';
import { type RateLimitView, viewRateLimit } from '../rate-limit/view-rate-limit.ts';
import { has, type Store } from './open-store.ts';

/**
 * One rate limit: the budget of a tenant at the partner, of an account at its HR system, or of one endpoint (`partner`,
 * `partner/candidates.list`, `hris`, `hris/login`).
 */
interface RateLimitKey {
  tenantId: string;
  upstream: string;
}

/** The result of a look at a rate limit; without `rateLimit` nothing is written. */
interface RateLimitChange<T> {
  rateLimit?: unknown;
  /** End of the last pause, milliseconds by the database's clock. */
  pausedUntil?: number;
  result: T;
}

/** Few processes change one rate limit at once, and each change is short. */
const MOST_TRIES = 50;
const MOST_AT_ONCE = 100;

interface Change {
  key: RateLimitKey;
  /** Decides: returns what to write, and a callback that reports the result. */
  decide: (rateLimit: unknown, now: number) => { write?: RateLimitWrite; done: () => void };
  fail: (error: unknown) => void;
  tries: number;
}

interface RateLimitWrite {
  state: string;
  pausedUntil: number | null;
}

/** By store: the changes that wait for their turn, and whether a caller is handling them. */
const queues = new WeakMap<Store, { waiting: Change[]; isBusy: boolean }>();

/**
 * Changes one rate limit as if alone: reads it with the database's clock and writes the result of `change` only if the
 * row is unchanged, otherwise starts again. So `change` may run several times and must only compute. Changes that
 * arrive while others are at the store share the next statement: a thousand tenants wait no longer than one.
 */
export function changeRateLimit<T>(
  store: Store,
  key: RateLimitKey,
  change: (rateLimit: unknown, now: number) => RateLimitChange<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const queue = queues.get(store) ?? { waiting: [], isBusy: false };
    queues.set(store, queue);
    const decide: Change['decide'] = (saved, now) => {
      const { rateLimit, pausedUntil, result } = change(saved, now);
      const done = (): void => resolve(result);
      if (rateLimit === undefined) return { done };
      return { write: { state: JSON.stringify(rateLimit), pausedUntil: pausedUntil ?? null }, done };
    };
    queue.waiting.push({ key, decide, fail: reject, tries: 0 });
    if (!queue.isBusy) void takeAll(store, queue);
  });
}

async function takeAll(store: Store, queue: { waiting: Change[]; isBusy: boolean }): Promise<void> {
  queue.isBusy = true;
  while (queue.waiting.length > 0) {
    const changes = takeDistinct(queue.waiting);
    try {
      queue.waiting.unshift(...(await changeAll(store, changes)));
    } catch (error) {
      for (const { fail } of changes) fail(error);
    }
  }
  queue.isBusy = false;
}

/** At most one change per rate limit, ordered by key, so that processes with the same rows never block each other. */
function takeDistinct(waiting: Change[]): Change[] {
  const taken = new Map<string, Change>();
  for (const change of waiting) {
    const name = nameOf(change.key);
    if (taken.size < MOST_AT_ONCE && !taken.has(name)) taken.set(name, change);
  }
  const chosen = new Set(taken.values());
  waiting.splice(0, waiting.length, ...waiting.filter((change) => !chosen.has(change)));
  return [...taken].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

/** Returns the changes whose rows another process changed first. */
async function changeAll(store: Store, changes: readonly Change[]): Promise<Change[]> {
  const seen = await readRows(store, changes);
  const decided = changes.flatMap((change) => {
    const row = seen.rows.get(nameOf(change.key));
    try {
      const saved: unknown = row === undefined ? undefined : JSON.parse(row.state);
      return [{ change, version: row?.version ?? 0, ...change.decide(saved, seen.now) }];
    } catch (error) {
      change.fail(error);
      return [];
    }
  });
  const rows = decided.flatMap(({ change, version, write }) =>
    write === undefined ? [] : [{ ...change.key, version, ...write }],
  );
  const written = new Set([...(await insertNew(store, rows)), ...(await updateKnown(store, rows))]);
  return decided.flatMap(({ change, write, done }) => {
    if (write !== undefined && !written.has(nameOf(change.key))) return again(change);
    done();
    return [];
  });
}

function again(change: Change): Change[] {
  if (change.tries + 1 < MOST_TRIES) return [{ ...change, tries: change.tries + 1 }];
  const { tenantId, upstream } = change.key;
  change.fail(
    new Error(`The rate limit of ${tenantId} at ${upstream} was changed by others ${MOST_TRIES} times in a row`),
  );
  return [];
}

function nameOf({ tenantId, upstream }: RateLimitKey): string {
  return `${tenantId}/${upstream}`;
}

/** The learned state, for display. */
export async function readRateLimit(store: Store, { tenantId, upstream }: RateLimitKey): Promise<unknown> {
  const row = await store.kysely
    .selectFrom('rate_limits')
    .select('state')
    .where(has({ tenant_id: tenantId, upstream }))
    .executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.state);
}

/** A rate limit as it was read, with the time by the database's clock. */
interface ListedRateLimit extends RateLimitKey {
  rateLimit: unknown;
  now: number;
}

/** Every rate limit of these owners, or of all. */
export async function listRateLimits(store: Store, owners?: readonly string[]): Promise<ListedRateLimit[]> {
  const rows = await listed(store, owners).select('state').execute();
  return rows.map(({ state, ...row }) => ({ ...named(row), rateLimit: JSON.parse(state) as unknown }));
}

/** Lists every rate limit again and again, and reads and parses only those that changed since the last time. */
export function createRateLimitList(store: Store): () => Promise<ListedRateLimit[]> {
  let known = new Map<string, { version: number; rateLimit: unknown }>();
  return async () => {
    const found = await listed(store).select('version').execute();
    const rows = found.map(({ version, ...row }) => ({ ...named(row), version }));
    const changed = rows.filter((row) => known.get(nameOf(row))?.version !== row.version);
    const owners = [...new Set(changed.map(({ tenantId }) => tenantId))];
    const read = owners.length === 0 ? [] : await listed(store, owners).select(['state', 'version']).execute();
    for (const { state, version, ...row } of read)
      known.set(nameOf(named(row)), { version, rateLimit: JSON.parse(state) });
    const listing = rows.flatMap((row) => {
      const one = known.get(nameOf(row));
      return one === undefined ? [] : [{ row, one }];
    });
    // What is not listed any more is forgotten.
    known = new Map(listing.map(({ row, one }) => [nameOf(row), one]));
    return listing.map(({ row: { tenantId, upstream, now }, one }) => {
      return { tenantId, upstream, now, rateLimit: one.rateLimit };
    });
  };
}

function listed(store: Store, owners?: readonly string[]) {
  return (
    store.kysely
      .selectFrom('rate_limits')
      .select(['tenant_id', 'upstream', store.now.as('now')])
      .$if(owners !== undefined, (query) => query.where('tenant_id', 'in', owners ?? []))
      // Until 0.1 each tenant learned the limits of its HR system separately; those rows are ignored.
      .where((eb) => eb.or([eb('upstream', 'like', 'partner%'), eb('tenant_id', 'like', 'hris:%')]))
      .orderBy('tenant_id')
      .orderBy('upstream', 'desc')
  );
}

function named(row: { tenant_id: string; upstream: string; now: number }): RateLimitKey & { now: number } {
  return { tenantId: row.tenant_id, upstream: row.upstream, now: row.now };
}

async function readRows(
  store: Store,
  changes: readonly Change[],
): Promise<{ rows: Map<string, { state: string; version: number }>; now: number }> {
  const tenants = [...new Set(changes.map(({ key }) => key.tenantId))];
  const found = await store.kysely
    .selectFrom(sql<{ now: number }>`(select ${store.now} as now)`.as('clock'))
    .leftJoin('rate_limits', (join) => join.on('rate_limits.tenant_id', 'in', tenants))
    .select(['rate_limits.tenant_id', 'rate_limits.upstream', 'state', 'version', 'clock.now'])
    .execute();
  const rows = found.flatMap(({ tenant_id: tenantId, upstream, state, version }) =>
    tenantId === null || upstream === null || state === null || version === null
      ? []
      : [[nameOf({ tenantId, upstream }), { state, version }] as const],
  );
  return { rows: new Map(rows), now: Number(found[0]?.now) };
}

interface RateLimitRow extends RateLimitKey, RateLimitWrite {
  /** The version as read; 0 for a new row. */
  version: number;
}

/** Returns the names of the rows written. */
async function insertNew(store: Store, rows: readonly RateLimitRow[]): Promise<string[]> {
  const values = rows.flatMap(({ tenantId, upstream, version, state, pausedUntil }) =>
    version === 0 ? [{ tenant_id: tenantId, upstream, version: 1, state, paused_until: pausedUntil }] : [],
  );
  if (values.length === 0) return [];
  const made = await store.kysely
    .insertInto('rate_limits')
    .values(values)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'upstream']).doNothing())
    .returning(['tenant_id', 'upstream'])
    .execute();
  return made.map(({ tenant_id: tenantId, upstream }) => nameOf({ tenantId, upstream }));
}

/** Returns the names of the rows written: those that no other process wrote since or is writing now. */
async function updateKnown(store: Store, rows: readonly RateLimitRow[]): Promise<string[]> {
  const known = rows.filter(({ version }) => version > 0);
  if (known.length === 0) return [];
  const values = known.map(
    ({ tenantId, upstream, version, state, pausedUntil }) => sql`
      select cast(${tenantId} as text) as tenant_id, cast(${upstream} as text) as upstream,
        cast(${version} as bigint) as version, cast(${state} as text) as state,
        cast(${pausedUntil} as bigint) as paused_until`,
  );
  const free =
    store.kind === 'sqlite'
      ? sql``
      : sql`and (rate_limits.tenant_id, rate_limits.upstream) in (
          select tenant_id, upstream from rate_limits
          where tenant_id in (${sql.join(known.map(({ tenantId }) => tenantId))}) for update skip locked)`;
  const { rows: written } = await sql<{ tenant_id: string; upstream: string }>`
    update rate_limits
    set version = rate_limits.version + 1, state = changed.state, paused_until = changed.paused_until
    from (${sql.join(values, sql` union all `)}) as changed
    where rate_limits.tenant_id = changed.tenant_id and rate_limits.upstream = changed.upstream
      and rate_limits.version = changed.version ${free}
    returning rate_limits.tenant_id, rate_limits.upstream`.execute(store.kysely);
  return written.map(({ tenant_id: tenantId, upstream }) => nameOf({ tenantId, upstream }));
}

/** What a rate limit applies to: calls of a tenant to its partner, or of an account to its HR system or an endpoint. */
export interface Limited extends RateLimitKey {
  /** A ceiling; see ceiling.ts. */
  share?: number | undefined;
}

/**
 * The owner of calls to an HR system: a connection is one account for all tenants that share it. No tenant can have
 * such a name.
 */
export function hrisAccount(connection: string): string {
  return `hris:${connection}`;
}

/** Opens a rate limit that every worker of this store shares. */
export function openRateLimit(store: Store, { share, ...key }: Limited, log: Logger): SharedRateLimit {
  return createSharedRateLimit(
    (change) =>
      // Attributes the change to the rate limit, since the permits are for all activities.
      inActivity('rateLimit', () =>
        changeRateLimit(store, key, (saved, now) => {
          const { rateLimit, result } = change((saved ?? {}) as Partial<SharedRateLimitState>, now);
          if (rateLimit === undefined) return { result };
          return { rateLimit, result, pausedUntil: Math.ceil(rateLimit.underWay?.permits.pausedUntil ?? 0) };
        }),
      ),
    {
      share,
      onOutage: (error) => log.error({ ...key, err: error }, 'shared rate limit unavailable, calls wait'),
    },
  );
}

/** What the limits learned and how calls fare, for some owners or all. Every display of limits uses this. */
export async function viewRateLimits(store: Store, owners?: readonly string[]): Promise<RateLimitView[]> {
  return (await listRateLimits(store, owners)).map(viewOf);
}

/** The same for all owners, again and again: what did not change since the last time is not read again. */
export function createRateLimitViews(store: Store): () => Promise<RateLimitView[]> {
  const list = createRateLimitList(store);
  return async () => (await list()).map(viewOf);
}

function viewOf({ rateLimit, ...row }: ListedRateLimit): RateLimitView {
  return viewRateLimit({ ...row, saved: rateLimit as SharedRateLimitState });
}
