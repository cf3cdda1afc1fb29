import type { Store } from './open-store.ts';

/** One rate limit: a tenant's budget at one upstream (`partner`, `hris`). */
export interface RateLimitKey {
  tenantId: string;
  upstream: string;
}

/** What comes of a look at a rate limit; `rateLimit` is absent where nothing is to be written. */
export interface RateLimitChange<T> {
  rateLimit?: unknown;
  /** End of the last pause, milliseconds on the database's clock. */
  pausedUntil?: number;
  result: T;
}

/** Processes that change one rate limit at once are few, and each change is short. */
const MOST_TRIES = 50;

/**
 * Changes one rate limit as if nobody else did meanwhile: reads it with the database's clock, and writes what `change`
 * makes of it only where it still is what was read; otherwise again. So `change` may run several times and must only
 * compute.
 */
export async function changeRateLimit<T>(
  store: Store,
  key: RateLimitKey,
  change: (rateLimit: unknown, now: number) => RateLimitChange<T>,
): Promise<T> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const seen = await readRow(store, key);
    const { rateLimit, pausedUntil, result } = change(
      seen.rateLimit === null ? undefined : JSON.parse(seen.rateLimit),
      Number(seen.now),
    );
    if (rateLimit === undefined) return result;
    const row = { state: JSON.stringify(rateLimit), paused_until: pausedUntil ?? null };
    if (await writeRow(store, key, seen.version, row)) return result;
  }
  throw new Error(
    `The rate limit of ${key.tenantId} at ${key.upstream} was changed by others ${MOST_TRIES} times in a row`,
  );
}

/** What was learned, for whoever shows it. */
export async function readRateLimit(store: Store, key: RateLimitKey): Promise<unknown> {
  const { rateLimit } = await readRow(store, key);
  return rateLimit === null ? undefined : JSON.parse(rateLimit);
}

/** Every rate limit, of one tenant or of all, with the time by the database's clock. */
export async function listRateLimits(
  store: Store,
  tenantId?: string,
): Promise<(RateLimitKey & { rateLimit: unknown; now: number })[]> {
  const rows = await store.kysely
    .selectFrom('rate_limits')
    .select(['tenant_id', 'upstream', 'state', store.now.as('now')])
    .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
    .orderBy('tenant_id')
    .orderBy('upstream', 'desc')
    .execute();
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    upstream: row.upstream,
    rateLimit: JSON.parse(row.state),
    now: Number(row.now),
  }));
}

async function readRow(
  store: Store,
  key: RateLimitKey,
): Promise<{ rateLimit: string | null; version: number; now: number }> {
  const row = await store.kysely
    .selectFrom('rate_limits')
    .select(['state', 'version', store.now.as('now')])
    .where('tenant_id', '=', key.tenantId)
    .where('upstream', '=', key.upstream)
    .executeTakeFirst();
  if (row !== undefined) return { rateLimit: row.state, version: row.version, now: row.now };
  const { now } = await store.kysely.selectNoFrom(store.now.as('now')).executeTakeFirstOrThrow();
  return { rateLimit: null, version: 0, now };
}

/** False when somebody else wrote since. */
async function writeRow(
  store: Store,
  { tenantId, upstream }: RateLimitKey,
  version: number,
  row: { state: string; paused_until: number | null },
): Promise<boolean> {
  if (version === 0) {
    const made = await store.kysely
      .insertInto('rate_limits')
      .values({ tenant_id: tenantId, upstream, version: 1, ...row })
      .onConflict((c) => c.columns(['tenant_id', 'upstream']).doNothing())
      .executeTakeFirst();
    return made.numInsertedOrUpdatedRows === 1n;
  }
  const changed = await store.kysely
    .updateTable('rate_limits')
    .set({ version: version + 1, ...row })
    .where('tenant_id', '=', tenantId)
    .where('upstream', '=', upstream)
    .where('version', '=', version)
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n;
}
