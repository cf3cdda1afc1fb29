import type { Places } from '../config.ts';
import { storeUrl } from '../config.ts';
import { type Restore, type RestoredTenant, readRestore } from '../store/backups.ts';
import { openStore } from '../store/open-store.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';

export interface AfterRestore extends Omit<Restore, 'tenants'> {
  tenants: (RestoredTenant & {
    /** What nothing here can tell of, and HR can see. */
    look: string;
  })[];
}

/** What came of the last restore: taken up again, asked about, and what HR should look at itself. */
export async function examineRestore({ tenantsDir, dataDir }: Places): Promise<AfterRestore | undefined> {
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  try {
    const restored = await readRestore(store);
    if (restored === undefined) return undefined;
    const files = await loadTenants(tenantsDir, { secrets: 'skip' }).catch(() => []);
    const named = new Map(files.map((tenant) => [tenant.tenant, tenant]));
    return {
      ...restored,
      tenants: restored.tenants.map((one) => ({ ...one, look: lookAt(named.get(one.tenantId), restored) })),
    };
  } finally {
    await store.close();
  }
}

/** An employee is found by our reference or by an enrolment that carries it; where there is neither, by HR alone. */
function lookAt(tenant: Tenant | undefined, { knownUntil, at }: Restore): string {
  const since = knownUntil === 0 ? 'the backup' : new Date(knownUntil).toISOString();
  const where = tenant === undefined ? 'the HR system' : `the HR system (${tenant.hris.connection})`;
  const whom =
    tenant?.policies.onboarding === 'skip'
      ? 'employees made'
      : 'employees made for people who left again before the restore';
  return `${whom} in ${where} between ${since} and ${new Date(at).toISOString()}, whom no hire here names`;
}
