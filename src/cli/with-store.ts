import { existsSync } from 'node:fs';
import type { Places } from '../config.ts';
import { ConnectorError } from '../errors.ts';
import type { Store } from '../store/open-store.ts';

/**
 * Opens the store for one command and closes it whatever happens. Opening creates a missing store and brings its tables
 * up to date; with `mustExist` it does neither. @throws ConnectorError STORE_MISSING, STORE_TOO_OLD
 */
export async function withStore<T>(
  { dataDir }: Places,
  use: (store: Store) => Promise<T>,
  { mustExist = false } = {},
): Promise<T> {
  const { storeFile, storeUrl } = await import('../config.ts');
  if (mustExist) assertExists(storeFile(dataDir));
  const { openStore } = await import('../store/open-store.ts');
  const store = await openStore(storeUrl(dataDir), { migrate: mustExist ? 'never' : 'always' });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function assertExists(file: string | undefined): void {
  if (file === undefined || existsSync(file)) return;
  throw new ConnectorError({
    code: 'STORE_MISSING',
    action: 'reject',
    message: `There is no store at ${file} yet. Name the data directory with --data, or start with: hirebridge up`,
  });
}
