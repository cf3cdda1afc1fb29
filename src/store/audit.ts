import type { Store, StoreTables } from './open-store.ts';
import type { AuditRow } from './schema.ts';

export interface AuditEntry {
  /** Who did it. */
  by: string;
  /** Absent for the whole fleet. */
  tenantId?: string;
  act: AuditRow['act'];
  details?: string;
}

/** Writes down what a person did, in the transaction that does it. */
export async function audit(store: StoreTables, { by, tenantId, act, details }: AuditEntry): Promise<void> {
  await store.kysely
    .insertInto('audit')
    .values({ at: store.now, by, tenant_id: tenantId ?? null, act, details: details ?? null })
    .execute();
}

/** What was done to one tenant, latest first. */
export async function readAudit(store: Store, tenantId: string, limit: number): Promise<AuditRow[]> {
  return store.kysely
    .selectFrom('audit')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
}
