import { sql } from 'kysely';
import { changeTenants } from './applied-tenants.ts';
import { type AuditEntry, audit } from './audit.ts';
import type { Store, StoreTables } from './open-store.ts';
import { giveUpPeople, lapseCreating } from './people.ts';
import { PAUSED_BY_PERSON } from './tenant-states.ts';

/** A person, and the tenant that they act upon. */
export interface TenantAct {
  tenantId: string;
  by: string;
}

/** Stops all work of the tenant until a person resumes it. False if no active or paused tenant has that name. */
export async function pauseByPerson(store: Store, act: TenantAct): Promise<boolean> {
  return change(store, { ...act, act: 'paused' }, (trx, version) =>
    trx.kysely
      .updateTable('tenants')
      .set({
        version,
        state: 'paused',
        paused_code: PAUSED_BY_PERSON,
        paused_message: `Paused by ${act.by}. To resume it: hirebridge resume ${act.tenantId}`,
        paused_at: trx.now,
        paused_key: null,
      })
      .where('tenant_id', '=', act.tenantId)
      .where('state', '!=', 'removed')
      .executeTakeFirst(),
  );
}

/** False if no person paused the tenant. */
export async function resumeByPerson(store: Store, act: TenantAct): Promise<boolean> {
  return change(store, { ...act, act: 'resumed' }, (trx, version) =>
    trx.kysely
      .updateTable('tenants')
      .set({ version, state: 'active', paused_code: null, paused_message: null, paused_at: null })
      .where('tenant_id', '=', act.tenantId)
      .where('state', '=', 'paused')
      .where('paused_code', '=', PAUSED_BY_PERSON)
      .executeTakeFirst(),
  );
}

/**
 * Removes a tenant: its work stops, nobody is notified about it any more, and a worker ends its schedules and
 * workflows. False if it was removed before.
 */
export async function removeTenant(store: Store, act: TenantAct): Promise<boolean> {
  return changeTenants(store, (trx, version) => removeApplied(trx, version, act));
}

/** The same within a running change of tenants. */
export async function removeApplied(trx: Store, version: number, { tenantId, by }: TenantAct): Promise<boolean> {
  const { numUpdatedRows } = await trx.kysely
    .updateTable('tenants')
    .set({
      version,
      state: 'removed',
      removed_at: trx.now,
      ended_at: null,
      receives: sql<string>`replace(receives, ',"events":true', '')`,
    })
    .where('tenant_id', '=', tenantId)
    .where('version', 'is not', null)
    .where('state', '!=', 'removed')
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await audit(trx, { by, tenantId, act: 'removed' });
  return numUpdatedRows > 0n;
}

/** Records that a worker ended the schedules and workflows of a removed tenant; releases what its hires held. */
export async function recordEnd(store: Store, tenantId: string): Promise<void> {
  await store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    const { numUpdatedRows } = await kysely
      .updateTable('tenants')
      .set({ ended_at: sql<number>`coalesce(ended_at, ${store.now})` })
      .where('tenant_id', '=', tenantId)
      .where('state', '=', 'removed')
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await giveUpPeople(trx, tenantId);
    await lapseCreating(trx, tenantId);
  });
}

async function change(
  store: Store,
  entry: AuditEntry,
  update: (trx: Store, version: number) => Promise<{ numUpdatedRows: bigint }>,
): Promise<boolean> {
  return changeTenants(store, async (trx, version) => {
    if ((await update(trx, version)).numUpdatedRows === 0n) return false;
    await audit(trx, entry);
    return true;
  });
}

/** Whether a tenant of that name was ever applied, including removed ones. */
/** Tenants that were ever applied, by name. */
export async function appliedNames({ kysely }: StoreTables): Promise<string[]> {
  const rows = await kysely.selectFrom('tenants').select('tenant_id').where('version', 'is not', null).execute();
  return rows.map((row) => row.tenant_id);
}

export async function isApplied({ kysely }: StoreTables, tenantId: string): Promise<boolean> {
  const row = await kysely
    .selectFrom('tenants')
    .select('version')
    .where('tenant_id', '=', tenantId)
    .where('version', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}
