import type { HrisLimits } from '../src/hris/http-line.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { RateLimitKeeper } from '../src/rate-limit/rate-limit.ts';
import type { SharedRateLimit } from '../src/rate-limit/shared-rate-limit.ts';
import { hrisAccount, type Limited } from '../src/store/open-rate-limit.ts';
import { openTenantHris } from '../src/tenants/open-hris.ts';
import type { Tenant } from '../src/tenants/schema.ts';

/**
 * The tenant's HR system under the rate limits of its account, each opened at its first call. `asWaited`: how long a
 * call waits for its permit.
 */
export async function openLimitedHris(
  tenant: Tenant,
  rateLimitOf: (limited: Limited) => SharedRateLimit,
  asWaited: (rateLimit: SharedRateLimit) => RateLimitKeeper,
): Promise<HrisConnection> {
  const tenantId = hrisAccount(tenant.hris.connection);
  const opened = new Map<string, SharedRateLimit>();
  const limits: HrisLimits = (endpoint) => {
    const upstream = endpoint === undefined ? 'hris' : `hris/${endpoint}`;
    const rateLimit = opened.get(upstream) ?? rateLimitOf({ tenantId, upstream });
    opened.set(upstream, rateLimit);
    return asWaited(rateLimit);
  };
  const hris = await openTenantHris(tenant, limits);
  return {
    ...hris,
    async close() {
      await Promise.allSettled([hris.close(), ...[...opened.values()].map((rateLimit) => rateLimit.close())]);
    },
  };
}
