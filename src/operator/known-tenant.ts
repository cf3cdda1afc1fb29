import { ConnectorError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Store } from '../store/open-store.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';

/** @throws ConnectorError TENANT_UNKNOWN */
export function assertKnownTenant(tenants: readonly Pick<Tenant, 'tenant'>[], tenantId: string): void {
  if (tenants.some(({ tenant }) => tenant === tenantId)) return;
  const known = tenants.map(({ tenant }) => tenant);
  throw unknownTenant(tenantId, known, 'No tenant file names', 'the directory in --tenants');
}

/**
 * Rejects an unknown tenant, because its empty lists would look like "nothing is wrong". A store that never had a
 * tenant rejects none.
 * @throws ConnectorError TENANT_UNKNOWN
 */
export async function assertTenantInStore(store: Store, tenantId: string): Promise<void> {
  const known = (await listTenantStates(store)).map((row) => row.tenant_id);
  if (known.length === 0 || known.includes(tenantId)) return;
  throw unknownTenant(tenantId, known, 'The store knows no tenant', 'the data directory in --data');
}

const MOST_NAMED = 10;

function unknownTenant(tenantId: string, known: readonly string[], text: string, place: string): ConnectorError {
  const near = nearest(tenantId, known);
  const named = known.toSorted().slice(0, MOST_NAMED).join(', ');
  const more = known.length > MOST_NAMED ? `, and ${known.length - MOST_NAMED} more` : '';
  const next = near === undefined ? `Check the name, or ${place}.` : `Did you mean "${near}"?`;
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message: `${text} "${tenantId}" (known: ${named}${more}). ${next}`,
  });
}
