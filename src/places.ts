import { join, resolve } from 'node:path';

/** Where this installation's files are, absolute. */
export interface Places {
  tenantsDir: string;
  dataDir: string;
}

/** Folders of whoever names none. */
export const TENANTS_DIR = 'tenants';
export const DATA_DIR = '.hirebridge';

/** The places as they were typed, or as the environment has them. Nothing of it is checked: see src/config.ts. */
export function placesIn(typed: { tenants?: string; data?: string }, env: NodeJS.ProcessEnv): Places {
  return {
    tenantsDir: resolve(typed.tenants ?? env['HIREBRIDGE_TENANTS'] ?? TENANTS_DIR),
    dataDir: resolve(typed.data ?? env['HIREBRIDGE_DATA'] ?? DATA_DIR),
  };
}

/** Where the store is: the fleet's Postgres, or SQLite in the data directory. */
export function storeIn(dataDir: string, named: string | undefined): string {
  return named ?? `sqlite:${join(dataDir, 'store.db')}`;
}
