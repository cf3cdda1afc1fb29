import { ConnectorError } from '../errors.ts';
import type { Store } from './open-store.ts';
import type { ReconcileKind } from './reconcile-tables.ts';

export interface SavedReconcile<Plan, Position, Counts> {
  kind: ReconcileKind;
  plan: Plan;
  position: Position;
  counts: Counts;
  /** Milliseconds since it was last saved. */
  ageMs: number;
}

/** Takes the tenant's unfinished reconcile for `holder`; from now on no other attempt may save it. */
export async function takeReconcile<Plan, Position, Counts>(
  store: Store,
  tenantId: string,
  holder: string,
): Promise<SavedReconcile<Plan, Position, Counts> | undefined> {
  // Usually there is none, and a read costs less than a write that changes nothing.
  const known = store.kysely.selectFrom('reconciles').select('kind').where('tenant_id', '=', tenantId);
  if ((await known.executeTakeFirst()) === undefined) return undefined;
  const row = await store.kysely
    .updateTable('reconciles')
    .set({ holder })
    .where('tenant_id', '=', tenantId)
    .returning(['kind', 'plan', 'position', 'counts', 'updated_at', store.now.as('now')])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    kind: row.kind,
    plan: JSON.parse(row.plan) as Plan,
    position: JSON.parse(row.position) as Position,
    counts: JSON.parse(row.counts) as Counts,
    ageMs: Number(row.now) - Number(row.updated_at),
  };
}

export interface NewReconcile {
  tenantId: string;
  holder: string;
  kind: ReconcileKind;
  plan: object;
  position: object;
  counts: object;
}

/** Saves a reconcile that has just begun. @throws ConnectorError RECONCILE_TAKEN_OVER if another one has begun too */
export async function insertReconcile(store: Store, reconcile: NewReconcile): Promise<void> {
  const { tenantId, holder, kind } = reconcile;
  const { numInsertedOrUpdatedRows } = await store.kysely
    .insertInto('reconciles')
    .values({
      tenant_id: tenantId,
      kind,
      plan: JSON.stringify(reconcile.plan),
      position: JSON.stringify(reconcile.position),
      counts: JSON.stringify(reconcile.counts),
      holder,
      started_at: store.now,
      updated_at: store.now,
    })
    .onConflict((c) => c.column('tenant_id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) throw takenOver(tenantId);
}

export interface ReconcileProgress {
  /** Only if it changed, since it may be long. */
  plan?: object;
  position: object;
  counts: object;
}

/** @throws ConnectorError RECONCILE_TAKEN_OVER if another attempt works on it by now */
export async function saveReconcile(
  store: Store,
  { tenantId, holder }: { tenantId: string; holder: string },
  { plan, position, counts }: ReconcileProgress,
): Promise<void> {
  const { numUpdatedRows } = await store.kysely
    .updateTable('reconciles')
    .set({
      ...(plan === undefined ? {} : { plan: JSON.stringify(plan) }),
      position: JSON.stringify(position),
      counts: JSON.stringify(counts),
      updated_at: store.now,
    })
    .where('tenant_id', '=', tenantId)
    .where('holder', '=', holder)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw takenOver(tenantId);
}

function takenOver(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'RECONCILE_TAKEN_OVER',
    action: 'retry',
    message: `Another attempt continues the reconcile of tenant ${tenantId}; this one ends.`,
  });
}

/** Deletes the reconcile and the people it saw: it is over, or too old to continue. */
export async function endReconcile(store: Store, tenantId: string, holder: string): Promise<void> {
  await store.kysely.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('reconciles')
      .where('tenant_id', '=', tenantId)
      .where('holder', '=', holder)
      .executeTakeFirst();
    if (numDeletedRows === 0n) return;
    await trx.deleteFrom('seen_people').where('tenant_id', '=', tenantId).execute();
  });
}
