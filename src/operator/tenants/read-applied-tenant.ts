import type { Store } from '../../store/open-store.ts';
import { parseTenant } from '../../tenants/load-tenants.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { findApplied } from './read-tenants.ts';

/** The tenant as it is applied. @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID */
export async function readAppliedTenant(store: Store, tenantId: string): Promise<Tenant> {
  return parseTenant(await findApplied(store, tenantId));
}
