import type { RateLimitView } from '../../rate-limit/view-rate-limit.ts';
import { hrisAccount, viewRateLimits } from '../../store/open-rate-limit.ts';
import type { Store } from '../../store/open-store.ts';
import { readAppliedTenant } from '../tenants/read-applied-tenant.ts';

/** Those that a tenant's calls are under: its own, and its HR system's. @throws ConnectorError TENANT_UNKNOWN */
export async function readRateLimits(store: Store, tenantId: string): Promise<RateLimitView[]> {
  const { hris } = await readAppliedTenant(store, tenantId);
  const owners = [tenantId, hrisAccount(hris.connection)];
  return (await Promise.all(owners.map((owner) => viewRateLimits(store, owner)))).flat();
}
