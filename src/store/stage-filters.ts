import type { Store } from './open-store.ts';

/** The result of probing the filter of GET /candidates/list. */
export interface StageFilter {
  /** Fingerprint of the key used for the probe. */
  key: string;
  /** The filter found everybody in the stage and nobody else. */
  proven: boolean;
  /** Ids of each stage in the policies, by the name that the policies give it. */
  stageIds: Record<string, number[]>;
}

/** The last probe with this key, if it is younger than `maxAgeMs`. */
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
