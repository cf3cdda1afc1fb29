import type { Store } from './open-store.ts';

/** Writes down that these records should be read again; one that waits already stays one, as of now. */
export async function addWakes(
  store: Store,
  tenantId: string,
  stream: string,
  recordIds: readonly string[],
): Promise<void> {
  if (recordIds.length === 0) return;
  await store.kysely
    .insertInto('wakes')
    .values(recordIds.map((recordId) => ({ tenant_id: tenantId, stream, record_id: recordId, woken_at: store.now })))
    .onConflict((c) => c.columns(['tenant_id', 'stream', 'record_id']).doUpdateSet({ woken_at: store.now }))
    .execute();
}

export interface Wake {
  recordId: string;
  wokenAt: number;
}

/** All wakes of one stream. They stay until they are cleared, so that work that fails is done again. */
export async function readWakes(store: Store, tenantId: string, stream: string): Promise<Wake[]> {
  const rows = await store.kysely
    .selectFrom('wakes')
    .select(['record_id', 'woken_at'])
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .execute();
  return rows.map((row) => ({ recordId: row.record_id, wokenAt: Number(row.woken_at) }));
}

/** Their work is done. A record that was woken again meanwhile keeps its wake. */
export async function clearWakes(
  store: Store,
  tenantId: string,
  stream: string,
  wakes: readonly Wake[],
): Promise<void> {
  for (const { recordId, wokenAt } of wakes)
    await store.kysely
      .deleteFrom('wakes')
      .where('tenant_id', '=', tenantId)
      .where('stream', '=', stream)
      .where('record_id', '=', recordId)
      .where('woken_at', '=', wokenAt)
      .execute();
}
