import { patient } from '../../activities/activity-scope.ts';
import { openLimitedHris } from '../../activities/limited-hris.ts';
import type { HrisConnection } from '../hris/port.ts';
import { createLogger } from '../log.ts';
import { openRateLimit } from '../store/open-rate-limit.ts';
import type { Store } from '../store/open-store.ts';
import { openTenantHris } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';

/**
 * The HR system for a command, under the rate limit that all processes share. Unless the command waits for its permits
 * itself, a call that would wait long is refused. Without a store nothing is known of a limit. Close it yourself.
 */
export function openHris(
  tenant: Tenant,
  store: Store | undefined,
  asWaited: Parameters<typeof openLimitedHris>[2] = patient,
): Promise<HrisConnection> {
  if (store === undefined) return openTenantHris(tenant);
  const log = createLogger('command');
  return openLimitedHris(tenant, (limited) => openRateLimit(store, limited, log), asWaited);
}
