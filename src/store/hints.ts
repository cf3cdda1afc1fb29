import type { Store } from './open-store.ts';

/** Records that these should be read again. A record has one hint at most, as of the latest. */
export async function addHints(
  store: Store,
  tenantId: string,
  stream: string,
  recordIds: readonly string[],
): Promise<void> {
  if (recordIds.length === 0) return;
  await store.kysely
    .insertInto('hints')
    .values(recordIds.map((recordId) => ({ tenant_id: tenantId, stream, record_id: recordId, hinted_at: store.now })))
    .onConflict((c) => c.columns(['tenant_id', 'stream', 'record_id']).doUpdateSet({ hinted_at: store.now }))
    .execute();
}

/** A record that should be read again. */
export interface Hint {
  recordId: string;
  hintedAt: number;
}

/** The hints of one stream, oldest first. They stay until cleared, so that failed work is repeated. */
export async function readHints(store: Store, tenantId: string, stream: string, limit?: number): Promise<Hint[]> {
  const all = store.kysely
    .selectFrom('hints')
    .select(['record_id', 'hinted_at'])
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .orderBy('hinted_at');
  const rows = await (limit === undefined ? all : all.limit(limit)).execute();
  return rows.map((row) => ({ recordId: row.record_id, hintedAt: Number(row.hinted_at) }));
}

/** Their work is done. A record hinted again meanwhile keeps its hint. */
export async function clearHints(
  store: Store,
  tenantId: string,
  stream: string,
  hints: readonly Hint[],
): Promise<void> {
  for (const [hintedAt, together] of Map.groupBy(hints, (hint) => hint.hintedAt))
    await store.kysely
      .deleteFrom('hints')
      .where('tenant_id', '=', tenantId)
      .where('stream', '=', stream)
      .where(
        'record_id',
        'in',
        together.map(({ recordId }) => recordId),
      )
      .where('hinted_at', '=', hintedAt)
      .execute();
}
