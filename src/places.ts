import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { rejected } from './errors.ts';

/** Absolute paths of this installation's folders. */
export interface Places {
  tenantsDir: string;
  dataDir: string;
}

/** Default folders. */
export const TENANTS_DIR = 'tenants';
export const DATA_DIR = '.hirebridge';

/** The store's address: the fleet's Postgres, whose address may be in a file, or SQLite in the data directory. */
export function storeIn(dataDir: string, named: string | undefined): string {
  if (named?.startsWith('file:') === true) return addressIn(named.slice('file:'.length));
  return named ?? `sqlite:${join(dataDir, 'store.db')}`;
}

function addressIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw rejected(
      'CONFIG_INVALID',
      `HIREBRIDGE_STORE_URL names ${file}, and that file cannot be read ` +
        `(${(cause as NodeJS.ErrnoException).code ?? 'error'}). Create it with the address as its only line, ` +
        'readable by this process.',
      { cause },
    );
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
