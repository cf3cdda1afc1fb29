import { assertNotInClear } from '../../sql/assert-not-in-clear.ts';
import type { SqlDatabase } from './database.ts';
import { openMariadb } from './mariadb.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/** Opens `sqlite:PATH`, `postgres://...` or `mariadb://...`. Connects at the first use. `create` lets SQLite make the
 * file. */
export function openSqlDatabase(url: string, options: { create?: boolean } = {}): SqlDatabase {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options.create ?? false);
  assertNotInClear(url, 'HRIS_OPTIONS_INVALID');
  return url.startsWith('mariadb:') ? openMariadb(url) : openPostgres(url);
}
