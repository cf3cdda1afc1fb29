import type { Store } from './open-store.ts';

/** Writes down that these records should be read again; one that waits already stays one, as of now. */
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

export interface Wake {
  recordId: string;
  hintedAt: number;
}

/** All hints of one stream. They stay until they are cleared, so that work that fails is done again. */
export async function readHints(store: Store, tenantId: string, stream: string): Promise<Wake[]> {
  const rows = await store.kysely
    .selectFrom('hints')
    .select(['record_id', 'hinted_at'])
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .execute();
  return rows.map((row) => ({ recordId: row.record_id, hintedAt: Number(row.hinted_at) }));
}

/** Their work is done. A record that was woken again meanwhile keeps its wake. */
export async function clearHints(
  store: Store,
  tenantId: string,
  stream: string,
  hints: readonly Wake[],
): Promise<void> {
  for (const { recordId, hintedAt } of hints)
    await store.kysely
      .deleteFrom('hints')
      .where('tenant_id', '=', tenantId)
      .where('stream', '=', stream)
      .where('record_id', '=', recordId)
      .where('hinted_at', '=', hintedAt)
      .execute();
}
