import type { Kysely, RawBuilder } from 'kysely';
import type { WriteOptions } from '../port.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

export type Row = Record<string, unknown>;
/** The customer's tables are known by configuration only. */
export type Tables = Record<string, Row>;

/** Builds a write statement; `guard` is a condition it must carry, false once the write's time is over by the database's own clock. */
export type BuildWrite = (guard: RawBuilder<boolean>) => RawBuilder<unknown>;

/** One database, by either driver. Reads go through `kysely`; a write is one statement, so that it happens whole or not at all. */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres';
  readonly kysely: Kysely<Tables>;
  /** Runs one guarded statement. ConnectorError `unknown` when it was sent and no answer came, `retry` when nothing happened. */
  write(build: BuildWrite, options: WriteOptions): Promise<Row[]>;
  close(): Promise<void>;
}

/** Opens `sqlite:PATH` or `postgres://...`. Connects at the first use. `create` lets SQLite make the file. */
export function openSqlDatabase(url: string, options: { create?: boolean } = {}): SqlDatabase {
  return url.startsWith('sqlite:')
    ? openSqlite(url.slice('sqlite:'.length), options.create ?? false)
    : openPostgres(url);
}
