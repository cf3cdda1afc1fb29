import { freeze, thaw } from '../../store/freezes.ts';
import type { Store } from '../../store/open-store.ts';
import { isApplied } from '../../store/tenant-acts.ts';
import { tenantNotApplied } from './read-tenants.ts';

export interface FreezeAct {
  /** Absent for the whole fleet. */
  tenantId?: string;
  by: string;
}

/** Stops every foreign write at once; reads and webhooks go on. False when they were stopped already. */
export async function freezeWrites(store: Store, { tenantId, by }: FreezeAct): Promise<boolean> {
  await assertApplied(store, tenantId);
  return freeze(store, by, tenantId);
}

/** Lets the writes go again. False when they were not stopped. */
export async function thawWrites(store: Store, { tenantId, by }: FreezeAct): Promise<boolean> {
  await assertApplied(store, tenantId);
  return thaw(store, by, tenantId);
}

async function assertApplied(store: Store, tenantId: string | undefined): Promise<void> {
  if (tenantId === undefined || (await isApplied(store, tenantId))) return;
  throw tenantNotApplied(tenantId);
}
