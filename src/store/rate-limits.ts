import type { Store } from './open-store.ts';

/** One pace: a tenant's budget at one upstream (`partner`, `hris`). */
export interface PaceKey {
  tenantId: string;
  upstream: string;
}

/** What comes of a look at a pace; `pace` is absent where nothing is to be written. */
export interface PaceChange<T> {
  pace?: unknown;
  result: T;
}

/** Processes that change one pace at once are few, and each change is short. */
const MOST_TRIES = 50;

/**
 * Changes one pace as if nobody else did meanwhile: reads it with the database's clock, and writes what `change` makes of it only where it still is
 * what was read; otherwise again. So `change` may run several times and must only compute.
 */
export async function changePace<T>(
  store: Store,
  key: PaceKey,
  change: (pace: unknown, now: number) => PaceChange<T>,
): Promise<T> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const seen = await readRow(store, key);
    const { pace, result } = change(seen.pace === null ? undefined : JSON.parse(seen.pace), Number(seen.now));
    if (pace === undefined || (await writeRow(store, key, seen.version, JSON.stringify(pace)))) return result;
  }
  throw new Error(`The pace of ${key.tenantId} at ${key.upstream} was changed by others ${MOST_TRIES} times in a row`);
}

/** What was learned, for whoever shows it. */
export async function readPace(store: Store, key: PaceKey): Promise<unknown> {
  const { pace } = await readRow(store, key);
  return pace === null ? undefined : JSON.parse(pace);
}

async function readRow(store: Store, key: PaceKey): Promise<{ pace: string | null; version: number; now: number }> {
  const row = await store.kysely
    .selectFrom('paces')
    .select(['pace', 'version', store.now.as('now')])
    .where('tenant_id', '=', key.tenantId)
    .where('upstream', '=', key.upstream)
    .executeTakeFirst();
  if (row !== undefined) return row;
  const { now } = await store.kysely.selectNoFrom(store.now.as('now')).executeTakeFirstOrThrow();
  return { pace: null, version: 0, now };
}

/** False when somebody else wrote since. */
async function writeRow(
  store: Store,
  { tenantId, upstream }: PaceKey,
  version: number,
  pace: string,
): Promise<boolean> {
  if (version === 0) {
    const made = await store.kysely
      .insertInto('paces')
      .values({ tenant_id: tenantId, upstream, version: 1, pace })
      .onConflict((c) => c.columns(['tenant_id', 'upstream']).doNothing())
      .executeTakeFirst();
    return made.numInsertedOrUpdatedRows === 1n;
  }
  const changed = await store.kysely
    .updateTable('paces')
    .set({ version: version + 1, pace })
    .where('tenant_id', '=', tenantId)
    .where('upstream', '=', upstream)
    .where('version', '=', version)
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n;
}
