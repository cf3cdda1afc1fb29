import { existsSync } from 'node:fs';
import type { Places } from '../config.ts';
import { ConnectorError } from '../errors.ts';
import type { Migrate, Store } from '../store/open-store.ts';

interface Opening {
  mustExist?: boolean;
  migrate?: Migrate;
  /** Whom the command is about: one that the store does not know is rejected, so that a typing error finds nothing. */
  tenantId?: string | undefined;
}

/**
 * Opens the store for one command and closes it whatever happens. Opening creates a missing store and brings its tables
 * up to date; with `mustExist` it does neither. @throws ConnectorError STORE_MISSING, STORE_TOO_OLD, TENANT_UNKNOWN
 */
export async function withStore<T>(
  { dataDir }: Places,
  use: (store: Store) => Promise<T>,
  { mustExist = false, migrate = mustExist ? 'never' : 'always', tenantId }: Opening = {},
): Promise<T> {
  const { storeFile, storeUrl } = await import('../config.ts');
  if (mustExist) assertExists(storeFile(dataDir));
  const { openStore } = await import('../store/open-store.ts');
  const store = await openStore(storeUrl(dataDir), { migrate });
  try {
    if (tenantId !== undefined) await assertInStore(store, tenantId);
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * The same for a command that only looks, also at a tenant that was never started: it makes a missing store or the
 * tables of an empty one, and leaves all others as they are. @throws ConnectorError STORE_TOO_OLD
 */
export function withStoreAsItIs<T>(places: Places, use: (store: Store) => Promise<T>): Promise<T> {
  return withStore(places, use, { migrate: 'if-empty' });
}

async function assertInStore(store: Store, tenantId: string): Promise<void> {
  const { assertTenantInStore } = await import('../operator/assert-tenant-in-store.ts');
  await assertTenantInStore(store, tenantId);
}

function assertExists(file: string | undefined): void {
  if (file === undefined || existsSync(file)) return;
  throw new ConnectorError({
    code: 'STORE_MISSING',
    action: 'reject',
    message: `There is no store at ${file} yet. Name the data directory with --data, or start with: hirebridge up`,
  });
}
