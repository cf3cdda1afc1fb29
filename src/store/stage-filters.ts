import type { Store } from './open-store.ts';

/** What a probe showed of the filter of GET /candidates/list. */
export interface StageFilter {
  /** Fingerprint of the key it was probed with. */
  key: string;
  /** Found whoever is in the stage and nobody who is not. */
  proven: boolean;
  /** Ids of each stage of the policies, under the name that the policies give it. */
  stageIds: Record<string, number[]>;
}

/** What was probed last, at most so long ago, with this key. */
export async function readStageFilter(
  store: Store,
  tenantId: string,
  key: string,
  maxAgeMs: number,
): Promise<StageFilter | undefined> {
  const row = await store.kysely
    .selectFrom('tenants')
    .select(['stage_filter', 'stage_filter_at', store.now.as('now')])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (row === undefined || row.stage_filter === null) return undefined;
  const filter = JSON.parse(row.stage_filter) as StageFilter;
  const ageMs = Number(row.now) - Number(row.stage_filter_at);
  return filter.key === key && ageMs <= maxAgeMs ? filter : undefined;
}

export async function saveStageFilter(store: Store, tenantId: string, filter: StageFilter): Promise<void> {
  await store.kysely
    .updateTable('tenants')
    .set({ stage_filter: JSON.stringify(filter), stage_filter_at: store.now })
    .where('tenant_id', '=', tenantId)
    .execute();
}
