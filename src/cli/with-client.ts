import { type Places, readConfig, storeUrl } from '../config.ts';
import type { OperatorParts } from '../operator/operator-parts.ts';
import { openStore } from '../store/open-store.ts';
import { connectTemporal } from '../temporal/connection.ts';
import { createHireClient } from '../temporal/hire-client.ts';
import { currentTenants } from '../tenants/current-tenants.ts';

/** Opens store and Temporal for one command and closes them whatever happens. */
export async function withClient<T>(places: Places, use: (parts: OperatorParts) => Promise<T>): Promise<T> {
  const config = readConfig();
  const store = await openStore(storeUrl(places.dataDir, config));
  try {
    const tenants = (await currentTenants(store, places.tenantsDir)).map(({ tenantId }) => ({ tenant: tenantId }));
    const temporal = await connectTemporal();
    try {
      return await use({ store, hires: createHireClient(temporal, store.installationId, config), tenants });
    } finally {
      await temporal.close();
    }
  } finally {
    await store.close();
  }
}
