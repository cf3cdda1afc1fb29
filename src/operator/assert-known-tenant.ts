import { ConnectorError } from '../errors.ts';
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
