import { listAppliedTenants } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';
import { loadTenants } from './load-tenants.ts';

export interface CurrentTenant {
  tenantId: string;
  webhooks: 'on' | 'off';
}

/** The tenants as they are applied; before the first start those of the folder. */
export async function currentTenants(store: Store, dir: string): Promise<CurrentTenant[]> {
  const applied = await listAppliedTenants(store);
  if (applied.length > 0)
    return applied.map(({ tenantId, state, receives }) => ({
      tenantId,
      webhooks: state === 'removed' ? 'off' : receives.webhooks,
    }));
  const tenants = await loadTenants(dir, { secrets: 'skip' });
  return tenants.map(({ tenant, partner }) => ({ tenantId: tenant, webhooks: partner.webhooks }));
}
