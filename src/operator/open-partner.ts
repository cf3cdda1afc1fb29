import { createPartnerClient, type PartnerClient } from '../partner/client/create-partner-client.ts';
import { Overrides } from '../partner/contract/overrides.ts';
import type { RateLimitKeeper } from '../rate-limit/rate-limit.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret } from '../tenants/secrets.ts';

/** A person who looks waits this long for an answer. */
export const CALL_MS = 10_000;

/** The tenant's partner for one command. Close it yourself. @throws ConnectorError SECRET_MISSING */
export function openPartner({ partner }: Pick<Tenant, 'partner'>, rateLimit?: RateLimitKeeper): PartnerClient {
  return createPartnerClient({
    baseUrl: partner.baseUrl,
    apiKey: resolveSecret(partner.apiKey),
    environment: partner.environment,
    overrides: Overrides.parse(partner.overrides),
    allowPrivate: partner.allowPrivateAddress,
    rateLimit,
    timeouts: { headersMs: CALL_MS, bodyMs: CALL_MS },
  });
}
