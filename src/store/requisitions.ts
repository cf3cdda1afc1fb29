import { forgetPair } from './exchange-pairs.ts';
import { readClock, type Store } from './open-store.ts';
import type { RequisitionRow } from './push-tables.ts';

type Key = Pick<RequisitionRow, 'tenant_id' | 'requisition_id'>;

/** All requisitions of a tenant as recorded, and the database's clock. */
export async function readRequisitions(
  store: Store,
  tenantId: string,
): Promise<{ rows: Map<string, RequisitionRow>; now: number }> {
  const rows = await store.kysely.selectFrom('requisitions').selectAll().where('tenant_id', '=', tenantId).execute();
  return { rows: new Map(rows.map((row) => [row.requisition_id, row])), now: await readClock(store) };
}

/**
 * Commits that a job is about to be requested. False if another process did so first, or the row changed since it was
 * decided.
 */
export async function sendRequisition(
  store: Store,
  { tenantId, requisitionId, runId }: { tenantId: string; requisitionId: string; runId: string },
  before: RequisitionRow | undefined,
  budgetMs: number,
): Promise<boolean> {
  const sentAt = await readClock(store);
  const sent = { state: 'sent' as const, sent_at: sentAt, give_up_at: sentAt + budgetMs, run_id: runId, hold_id: null };
  if (before === undefined) {
    const { numInsertedOrUpdatedRows } = await store.kysely
      .insertInto('requisitions')
      .values({ tenant_id: tenantId, requisition_id: requisitionId, attempt: 1, job_id: null, ...sent })
      .onConflict((c) => c.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await store.kysely
    .updateTable('requisitions')
    .set({ ...sent, attempt: before.attempt + 1 })
    .where('tenant_id', '=', tenantId)
    .where('requisition_id', '=', requisitionId)
    .where('state', '=', before.state)
    .where('attempt', '=', before.attempt)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The stream whose bases belong to one position and one job: another job's values are no edits. */
const POSITIONS = 'positions';

/** Links a requisition to its job, made now, found, or named by a person. Forgets values agreed with another job. */
export async function linkRequisition(store: Store, key: Key, jobId: string): Promise<void> {
  const known = { state: 'created' as const, job_id: jobId, hold_id: null };
  const { tenant_id: tenantId, requisition_id: pairId } = key;
  await store.kysely.transaction().execute(async (kysely) => {
    const before = await kysely
      .selectFrom('requisitions')
      .select('job_id')
      .where((eb) => eb.and({ ...key }))
      .executeTakeFirst();
    if (before !== undefined && before.job_id !== jobId)
      await forgetPair({ ...store, kysely }, { tenantId, stream: POSITIONS, pairId });
    await kysely
      .insertInto('requisitions')
      .values({ ...key, ...known, attempt: 0, sent_at: null, give_up_at: null, run_id: null })
      .onConflict((c) => c.columns(['tenant_id', 'requisition_id']).doUpdateSet(known))
      .execute();
  });
}

/** Records that no job was made, that a person is asked about it, or that a person wants no job. */
export async function settleRequisition(
  store: Store,
  { tenant_id, requisition_id }: Key,
  change: { state: 'absent' | 'dismissed' } | { state: 'held'; hold_id: string | null } | { state: 'sent' },
): Promise<void> {
  await store.kysely
    .updateTable('requisitions')
    .set({ hold_id: null, ...change })
    .where('tenant_id', '=', tenant_id)
    .where('requisition_id', '=', requisition_id)
    .execute();
}
