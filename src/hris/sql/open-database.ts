import type { SqlDatabase } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/** Opens `sqlite:PATH` or `postgres://...`. Connects at the first use. `create` lets SQLite make the file. */
export function openSqlDatabase(url: string, options: { create?: boolean } = {}): SqlDatabase {
  return url.startsWith('sqlite:')
    ? openSqlite(url.slice('sqlite:'.length), options.create ?? false)
    : openPostgres(url);
}
