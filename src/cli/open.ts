import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Places, readConfig, storeFile, storeUrl } from '../config.ts';
import { rejected } from '../errors.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import { assertTenantInStore, knownTenant } from '../operator/tenants.ts';
import { keepOwnAudit } from '../store/audit.ts';
import type { Migrate } from '../store/migrate.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { placesOf } from './command.ts';

/**
 * Opens the store for one command, and always closes it. `if-empty` is for a command that only reads, perhaps about a
 * tenant that was never started.
 * @throws ConnectorError STORE_TOO_OLD
 */
export async function withOpened<T>(
  { dataDir }: Places,
  migrate: Migrate,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(storeUrl(dataDir), { migrate, keys: { ref: readConfig().HIREBRIDGE_KEYS } });
  try {
    return await use(store);
  } finally {
    await keepOwnAudit(store, dataDir);
    await store.close();
  }
}

/**
 * The same for a store that must be there, with current tables. An unknown tenant is rejected, so that a typing error
 * does not return empty lists.
 * @throws ConnectorError STORE_MISSING, STORE_TOO_OLD, TENANT_UNKNOWN
 */
export async function withStore<T>(
  command: Command,
  use: (store: Store, places: Places) => Promise<T>,
  tenantId?: string,
): Promise<T> {
  const places = await placesOf(command);
  assertExists(storeFile(places.dataDir));
  return withOpened(places, 'never', async (store) => {
    if (tenantId !== undefined) await assertTenantInStore(store, tenantId);
    return use(store, places);
  });
}

/** Looks into the store without the keys of encrypted values, for what reads none of them. */
export async function lookInto<T>(dataDir: string, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** @throws ConnectorError STORE_MISSING */
export function assertExists(file: string | undefined): void {
  if (file === undefined || existsSync(file)) return;
  throw rejected(
    'STORE_MISSING',
    `There is no store at ${file} yet. Name the data directory with --data, or start with: hirebridge up`,
  );
}

/**
 * Opens store and Temporal for one command, and always closes them. Uses the Temporal of the environment or profile,
 * otherwise the embedded one of `up`. `check` needs no Temporal, and its refusal does not wait for it.
 * @throws ConnectorError STORE_MISSING, TENANT_UNKNOWN
 */
export async function withClient<T>(
  places: Places,
  use: (parts: OperatorParts) => Promise<T>,
  tenantId?: string,
  check?: (store: Store) => Promise<void>,
): Promise<T> {
  assertExists(storeFile(places.dataDir));
  // Loaded here, because Temporal's client takes longer to load than all else that other commands do.
  const [{ connectTemporal, temporalSettings }, { createHireClient }, { currentTenants }] = await Promise.all([
    import('../temporal/connection.ts'),
    import('../temporal/hire-client.ts'),
    import('../tenants/current-tenants.ts'),
  ]);
  if (temporalSettings().address === undefined) {
    const embedded = await readFile(temporalAddressFile(places.dataDir), 'utf8').catch(() => '');
    if (embedded !== '') process.env['TEMPORAL_ADDRESS'] = embedded.trim();
  }
  const config = readConfig();
  const connecting = connectTemporal();
  connecting.catch(() => undefined);
  try {
    return await withOpened(places, 'always', async (store) => {
      const tenants = await currentTenants(store, places.tenantsDir);
      // Check before waiting for Temporal, which may take long to answer.
      if (tenantId !== undefined) knownTenant(tenants, tenantId);
      await check?.(store);
      const temporal = await connecting;
      return use({ store, hires: createHireClient(temporal, store.installationId, config), tenants }).catch(
        (error: unknown) => Promise.reject(temporal.explain(error) as Error),
      );
    });
  } finally {
    await connecting.then((temporal) => temporal.close()).catch(() => undefined);
  }
}

/** The file in which `up` leaves the address of its embedded Temporal, for commands in other terminals. */
export function temporalAddressFile(dataDir: string): string {
  return join(dataDir, 'temporal.address');
}
