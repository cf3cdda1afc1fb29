import { sql } from 'kysely';
import { put, type Store, withTenantsOf } from './open-store.ts';
import { ofStream, type StreamKey } from './streams.ts';

/**
 * Records that these records should be read again. A record has at most one hint, with the latest time. `gone`: an
 * event says that the record no longer exists.
 */
export function addHints(
  store: Store,
  tenantId: string,
  stream: string,
  recordIds: readonly string[],
  gone = false,
): Promise<void> {
  return put(store, 'hints', rowsOf(store, { tenantId, stream }, recordIds, gone), { key, set: ['hinted_at', 'gone'] });
}

/** The same for records whose first hint counts: its time says since when something is so. */
export function addFirstHints(
  store: Store,
  tenantId: string,
  stream: string,
  recordIds: readonly string[],
): Promise<void> {
  return put(store, 'hints', rowsOf(store, { tenantId, stream }, recordIds, false), { key, set: [] });
}

const key = ['tenant_id', 'stream', 'record_id'] as const;

function rowsOf({ now }: Store, { tenantId, stream }: StreamKey, recordIds: readonly string[], gone: boolean) {
  const hinted = { tenant_id: tenantId, stream, hinted_at: now, gone: gone ? 1 : 0 };
  return recordIds.map((recordId) => ({ ...hinted, record_id: recordId }));
}

/** A hint for a record of a list in parts, if the event does not name the part. */
export function hintOfRecord(recordId: string): string {
  return `${OF_RECORD}${recordId}`;
}

/** The record that a hint names instead of a part; undefined if it names a part. */
export function recordHinted(hint: string): string | undefined {
  return hint.startsWith(OF_RECORD) ? hint.slice(OF_RECORD.length) : undefined;
}

/** Ids of the partner never contain a blank. */
const OF_RECORD = 'record ';

/** A record that should be read again. */
export interface Hint {
  recordId: string;
  hintedAt: number;
  /** An event says that the record no longer exists. */
  gone: boolean;
}

/**
 * The hints of one stream, oldest first, and at least `agedMs` old. They stay until cleared, so that failed work is
 * repeated.
 */
export async function readHints(
  store: Store,
  tenantId: string,
  stream: string,
  limit?: number,
  agedMs = 0,
): Promise<Hint[]> {
  const every = store.kysely
    .selectFrom('hints')
    .select(['record_id', 'hinted_at', 'gone'])
    .where(ofStream({ tenantId, stream }))
    .orderBy('hinted_at');
  const all = agedMs === 0 ? every : every.where('hinted_at', '<=', sql<number>`${store.now} - ${agedMs}`);
  const rows = await (limit === undefined ? all : all.limit(limit)).execute();
  return rows.map((row) => ({ recordId: row.record_id, hintedAt: row.hinted_at, gone: row.gone === 1 }));
}

/** When each stream's oldest hint was made. A few index steps per stream, however many hints it has. */
export async function oldestHints(store: Store): Promise<{ tenantId: string; stream: string; hintedAt: number }[]> {
  const { rows } = await sql<{ tenant_id: string; stream: string; hinted_at: number }>`
    ${withTenantsOf('hints', sql`true`)},
    streams (tenant_id, stream) as (
      select tenant_id, (select min(stream) from hints where hints.tenant_id = known.tenant_id)
      from known where tenant_id is not null
      union all
      select tenant_id, (select min(hints.stream) from hints
        where hints.tenant_id = streams.tenant_id and hints.stream > streams.stream)
      from streams where stream is not null
    )
    select tenant_id, stream, (select min(hinted_at) from hints
      where hints.tenant_id = streams.tenant_id and hints.stream = streams.stream) as hinted_at
    from streams where stream is not null`.execute(store.kysely);
  return rows.map((row) => ({ tenantId: row.tenant_id, stream: row.stream, hintedAt: row.hinted_at }));
}

/** Clears the hints of a stream, or of the named records, that a pass begun after them has answered. */
export async function clearHintsUntil(
  store: Store,
  { tenantId, stream, until }: { tenantId: string; stream: string; until: number },
  recordIds?: readonly string[],
): Promise<void> {
  const old = store.kysely.deleteFrom('hints').where(ofStream({ tenantId, stream })).where('hinted_at', '<=', until);
  await (recordIds === undefined ? old : old.where('record_id', 'in', recordIds)).execute();
}

/** Clears hints whose work is done. A record hinted again in the meantime keeps its hint. */
export async function clearHints(
  store: Store,
  tenantId: string,
  stream: string,
  hints: readonly Pick<Hint, 'recordId' | 'hintedAt'>[],
): Promise<void> {
  for (const [hintedAt, together] of Map.groupBy(hints, (hint) => hint.hintedAt))
    await store.kysely
      .deleteFrom('hints')
      .where(ofStream({ tenantId, stream }))
      .where(
        'record_id',
        'in',
        together.map(({ recordId }) => recordId),
      )
      .where('hinted_at', '=', hintedAt)
      .execute();
}
