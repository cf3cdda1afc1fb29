import { existsSync } from 'node:fs';
import type { Places } from '../config.ts';
import type { Store } from '../store/open-store.ts';
import type { Tenant } from '../tenants/schema.ts';
import { withStore } from './with-store.ts';

/**
 * A tenant of the folder, and the store where there is one: whoever only looks needs none, and makes none.
 * @throws ConnectorError TENANT_UNKNOWN
 */
export async function withOwnTenant<T>(
  places: Places,
  tenantId: string,
  use: (tenant: Tenant, store: Store | undefined) => Promise<T>,
): Promise<T> {
  const [{ storeFile }, { loadTenants }, { assertKnownTenant }] = await Promise.all([
    import('../config.ts'),
    import('../tenants/load-tenants.ts'),
    import('../operator/assert-known-tenant.ts'),
  ]);
  const tenants = await loadTenants(places.tenantsDir, { secrets: 'skip' });
  assertKnownTenant(tenants, tenantId);
  const [own] = tenants.filter(({ tenant }) => tenant === tenantId);
  if (own === undefined) throw new Error(`${tenantId} was there a moment ago`);
  const file = storeFile(places.dataDir);
  if (file !== undefined && !existsSync(file)) return use(own, undefined);
  return withStore(places, (store) => use(own, store), { mustExist: true });
}
