import { sql } from 'kysely';
import type { Store } from './open-store.ts';
import type { AlarmRow } from './schema.ts';

/** Tenants with an open hold or a raised alarm that was not notified yet. */
export async function tenantsToTell(store: Store): Promise<Set<string>> {
  const rows = await store.kysely
    .selectFrom('holds')
    .select('tenant_id')
    .where(sql<boolean>`notified_at is null and closed_at is null`)
    .union(untoldAlarms(store).select('tenant_id'))
    .execute();
  return new Set(rows.map((row) => row.tenant_id));
}

/** A tenant's raised alarms that were not notified yet, oldest first. */
export async function unnotifiedAlarms(store: Store, tenantId: string, limit: number): Promise<AlarmRow[]> {
  return untoldAlarms(store).selectAll().where('tenant_id', '=', tenantId).orderBy('since').limit(limit).execute();
}

function untoldAlarms(store: Store) {
  return store.kysely.selectFrom('alarms').where('raised_at', 'is not', null).where('notified_at', 'is', null);
}

export async function markAlarmNotified(
  store: Store,
  { tenant_id, kind, subject }: Pick<AlarmRow, 'tenant_id' | 'kind' | 'subject'>,
): Promise<void> {
  await store.kysely
    .updateTable('alarms')
    .set({ notified_at: store.now })
    .where('tenant_id', '=', tenant_id)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .execute();
}

/** Reserves the right to notify this tenant's address for `ms`; false while another process has it. */
export async function leaseNotices(store: Store, tenantId: string, ms: number): Promise<boolean> {
  const result = await store.kysely
    .updateTable('tenants')
    .set({ notify_until: sql<number>`${store.now} + ${ms}` })
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('notify_until', 'is', null), eb('notify_until', '<=', store.now)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function releaseNotices(store: Store, tenantId: string): Promise<void> {
  await store.kysely.updateTable('tenants').set({ notify_until: null }).where('tenant_id', '=', tenantId).execute();
}
