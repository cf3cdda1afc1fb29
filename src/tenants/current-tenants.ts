import { listReceiving } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';

interface CurrentTenant {
  tenantId: string;
  webhooks: 'on' | 'off';
}

/** The applied tenants; before the first start, those of the folder. */
export async function currentTenants(store: Store, dir: string): Promise<CurrentTenant[]> {
  const applied = await listReceiving(store);
  if (applied.length > 0)
    return applied.map(({ tenantId, state, webhooks }) => ({
      tenantId,
      webhooks: state === 'removed' ? 'off' : webhooks,
    }));
  // Reading files loads schemas, mappings and HR systems, which costs a command as much as everything else it does.
  const { loadTenants } = await import('./load-tenants.ts');
  const tenants = await loadTenants(dir, { secrets: 'skip' });
  return tenants.map(({ tenant, partner }) => ({ tenantId: tenant, webhooks: partner.webhooks }));
}
