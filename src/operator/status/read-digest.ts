import { type Digest, readDigest } from '../../store/digests.ts';
import type { Store } from '../../store/open-store.ts';
import { readClock } from '../../store/tenant-states.ts';
import { currentTenants } from '../../tenants/current-tenants.ts';
import { assertKnownTenant } from '../assert-known-tenant.ts';

const DAY_MS = 86_400_000;

/** The last 24 hours of a tenant, as its digest would tell them. @throws ConnectorError TENANT_UNKNOWN */
export async function readLastDay(store: Store, tenantsDir: string, tenantId: string): Promise<Digest> {
  const known = await currentTenants(store, tenantsDir);
  assertKnownTenant(
    known.map((one) => ({ tenant: one.tenantId })),
    tenantId,
  );
  const now = await readClock(store);
  return readDigest(store, tenantId, now - DAY_MS, now);
}
