import { type LimitedEndpoints, withEndpoints } from '../rate-limit/kept-rate-limits.ts';
import type { SharedRateLimit } from '../rate-limit/shared-rate-limit.ts';
import type { Limited } from '../store/rate-limits.ts';
import type { Tenant } from './schema.ts';

/** The rate limit of a tenant at its partner, and those of endpoints with a limit of their own. */
export function limitPartner(
  { tenant: tenantId, partner }: Pick<Tenant, 'tenant' | 'partner'>,
  open: (limited: Limited) => SharedRateLimit,
): LimitedEndpoints {
  const limited = (upstream: string): Limited => ({ tenantId, upstream, share: partner.rateLimit?.share });
  return withEndpoints(open(limited('partner')), (endpoint) => open(limited(`partner/${endpoint}`)));
}
