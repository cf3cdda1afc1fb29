import { hireClient } from '../app.ts';
import { readConfig, storeUrl } from '../config.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { connectTemporal } from '../temporal/connection.ts';
import { type HireClient } from '../temporal/signal-hire.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { Places } from './options.ts';

export interface CommandParts {
  store: Store;
  hires: HireClient;
  tenants: Tenant[];
}

/** Store and Temporal for one command, closed whatever happens. */
export async function withClient<T>(places: Places, use: (parts: CommandParts) => Promise<T>): Promise<T> {
  const config = readConfig();
  const tenants = await loadTenants(places.tenantsDir, { secrets: 'skip' });
  const store = await openStore(storeUrl(places.dataDir, config));
  try {
    const temporal = await connectTemporal();
    try {
      return await use({ store, hires: hireClient(temporal, store.installationId, config), tenants });
    } finally {
      await temporal.close();
    }
  } finally {
    await store.close();
  }
}
