import { ConnectorError } from '../errors.ts';
import type { Store } from '../store/open-store.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';

/** @throws ConnectorError TENANT_UNKNOWN */
export function assertKnownTenant(tenants: readonly Pick<Tenant, 'tenant'>[], tenantId: string): void {
  if (tenants.some(({ tenant }) => tenant === tenantId)) return;
  const known = tenants.map(({ tenant }) => tenant).join(', ');
  throw new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message: `No tenant file names "${tenantId}" (known: ${known}). Check the name, or the directory in --tenants.`,
  });
}

const MOST_NAMED = 10;

/**
 * A list about a tenant that does not exist is empty, and would pass for "nothing is wrong". A store in which no tenant
 * was ever started knows nobody, and rejects nobody. @throws ConnectorError TENANT_UNKNOWN
 */
export async function assertTenantInStore(store: Store, tenantId: string): Promise<void> {
  const known = (await listTenantStates(store)).map((row) => row.tenant_id);
  if (known.length === 0 || known.includes(tenantId)) return;
  const named = known.toSorted().slice(0, MOST_NAMED).join(', ');
  const more = known.length > MOST_NAMED ? `, and ${known.length - MOST_NAMED} more` : '';
  throw new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message:
      `The store knows no tenant "${tenantId}" (known: ${named}${more}). ` +
      'Check the name, or the data directory in --data.',
  });
}
