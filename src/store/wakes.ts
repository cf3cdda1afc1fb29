import type { Store } from './open-store.ts';

/** Writes down that these records should be read again; one that waits already stays one. */
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
    .onConflict((c) => c.columns(['tenant_id', 'stream', 'record_id']).doNothing())
    .execute();
}

/** Takes all wakes of one stream; what comes in meanwhile waits for the next call. */
export async function takeWakes(store: Store, tenantId: string, stream: string): Promise<string[]> {
  const rows = await store.kysely
    .deleteFrom('wakes')
    .where('tenant_id', '=', tenantId)
    .where('stream', '=', stream)
    .returning('record_id')
    .execute();
  return rows.map((row) => row.record_id);
}
