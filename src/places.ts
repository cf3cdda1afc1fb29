import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { ConnectorError } from './errors.ts';

/** Absolute paths of this installation's folders. */
export interface Places {
  tenantsDir: string;
  dataDir: string;
}

/** Default folders. */
export const TENANTS_DIR = 'tenants';
export const DATA_DIR = '.hirebridge';

/** The places as typed, or from the environment. Not validated: see src/config.ts. */
export function placesIn(typed: { tenants?: string; data?: string }, env: NodeJS.ProcessEnv): Places {
  return {
    tenantsDir: resolve(typed.tenants ?? env['HIREBRIDGE_TENANTS'] ?? TENANTS_DIR),
    dataDir: resolve(typed.data ?? env['HIREBRIDGE_DATA'] ?? DATA_DIR),
  };
}

/** The store's address: the fleet's Postgres, whose address may be in a file, or SQLite in the data directory. */
export function storeIn(dataDir: string, named: string | undefined): string {
  if (named?.startsWith('file:') === true) return addressIn(named.slice('file:'.length));
  return named ?? `sqlite:${join(dataDir, 'store.db')}`;
}

function addressIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new ConnectorError({
      code: 'CONFIG_INVALID',
      action: 'reject',
      message:
        `HIREBRIDGE_STORE_URL names ${file}, and that file cannot be read ` +
        `(${(cause as NodeJS.ErrnoException).code ?? 'error'}). Create it with the address as its only line, ` +
        'readable by this process.',
      cause,
    });
  }
}

/** The system's name for this process's user, regardless of its environment. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a uid without a name.
    return `uid ${process.getuid?.() ?? 0}`;
  }
}
