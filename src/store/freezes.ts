import { audit } from './audit.ts';
import type { Store } from './open-store.ts';

/** Whose foreign writes stand still, since when and by whose word. */
export interface Freeze {
  /** Absent for the whole fleet. */
  tenantId?: string;
  since: number;
  by: string;
}

/** Stops every foreign write of one tenant, or of the fleet. False when it stands still already, or nobody has it. */
export async function freeze(store: Store, by: string, tenantId?: string): Promise<boolean> {
  return set(store, { by, tenantId, act: 'frozen' }, { frozen_at: store.now, frozen_by: by });
}

/** Lets the writes go again. False when they were not stopped. */
export async function thaw(store: Store, by: string, tenantId?: string): Promise<boolean> {
  return set(store, { by, tenantId, act: 'thawed' }, { frozen_at: null, frozen_by: null });
}

type Act = { by: string; tenantId: string | undefined; act: 'frozen' | 'thawed' };
type Frozen = { frozen_at: Store['now'] | null; frozen_by: string | null };

async function set(store: Store, { by, tenantId, act }: Act, frozen: Frozen): Promise<boolean> {
  return store.kysely.transaction().execute(async (kysely) => {
    const were = act === 'frozen' ? ('is' as const) : ('is not' as const);
    const updated =
      tenantId === undefined
        ? await kysely.updateTable('installation').set(frozen).where('frozen_at', were, null).executeTakeFirst()
        : await kysely
            .updateTable('tenants')
            .set(frozen)
            .where('tenant_id', '=', tenantId)
            .where('frozen_at', were, null)
            .executeTakeFirst();
    if (updated.numUpdatedRows === 0n) return false;
    await audit({ ...store, kysely }, { by, act, ...(tenantId === undefined ? {} : { tenantId }) });
    return true;
  });
}

/** Every freeze in force, the fleet's first. */
export async function listFreezes({ kysely }: Store): Promise<Freeze[]> {
  const fleet = await kysely.selectFrom('installation').select(['frozen_at', 'frozen_by']).executeTakeFirst();
  const rows = await kysely
    .selectFrom('tenants')
    .select(['tenant_id', 'frozen_at', 'frozen_by'])
    .where('frozen_at', 'is not', null)
    .orderBy('tenant_id')
    .execute();
  const own = rows.map((row) => ({ tenantId: row.tenant_id, ...sinceAndBy(row) }));
  return fleet === undefined || fleet.frozen_at === null ? own : [sinceAndBy(fleet), ...own];
}

function sinceAndBy(row: { frozen_at: number | null; frozen_by: string | null }): Omit<Freeze, 'tenantId'> {
  return { since: Number(row.frozen_at), by: row.frozen_by ?? '' };
}
