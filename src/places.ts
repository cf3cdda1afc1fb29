import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { ConnectorError } from './errors.ts';

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

/** Where the store is: the fleet's Postgres, whose address may stand in a file, or SQLite in the data directory. */
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

/** The name that this system has for the user of this process, whatever its environment says. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that nobody gave a name.
    return `uid ${process.getuid?.() ?? 0}`;
  }
}
