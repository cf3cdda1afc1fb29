import type { HrisLimits } from '../src/hris/http-line.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { SharedRateLimit } from '../src/rate-limit/shared-rate-limit.ts';
import type { Limited } from '../src/store/open-rate-limit.ts';
import { openTenantHris } from '../src/tenants/open-hris.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import { patient } from './activity-scope.ts';

/** The tenant's HR system under rate limits of its own, each opened at its first call. */
export async function openLimitedHris(
  tenant: Tenant,
  rateLimitOf: (limited: Limited) => SharedRateLimit,
): Promise<HrisConnection> {
  const opened = new Map<string, SharedRateLimit>();
  const limits: HrisLimits = (endpoint) => {
    const upstream = endpoint === undefined ? 'hris' : `hris/${endpoint}`;
    const rateLimit = opened.get(upstream) ?? rateLimitOf({ tenantId: tenant.tenant, upstream });
    opened.set(upstream, rateLimit);
    return patient(rateLimit);
  };
  const hris = await openTenantHris(tenant, limits);
  return {
    ...hris,
    async close() {
      await Promise.allSettled([hris.close(), ...[...opened.values()].map((rateLimit) => rateLimit.close())]);
    },
  };
}
