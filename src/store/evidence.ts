import type { Store } from './open-store.ts';

/** A verdict on an assumption, from what a tenant's partner showed. */
export interface Evidence {
  tenantId: string;
  assumption: string;
  verdict: 'confirmed' | 'contradicted';
}

/** Records a verdict; the first time it was seen stays. */
export async function noteEvidence(store: Store, { tenantId, assumption, verdict }: Evidence): Promise<void> {
  await store.kysely
    .insertInto('evidence')
    .values({ tenant_id: tenantId, assumption, verdict, first_seen_at: store.now })
    .onConflict((c) => c.doNothing())
    .execute();
}

export async function listEvidence(store: Store): Promise<Evidence[]> {
  const rows = await store.kysely.selectFrom('evidence').select(['tenant_id', 'assumption', 'verdict']).execute();
  return rows.map((row) => ({ tenantId: row.tenant_id, assumption: row.assumption, verdict: row.verdict }));
}
