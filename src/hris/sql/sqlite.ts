import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import type { WriteOptions } from '../port.ts';
import type { BuildWrite, Row, SqlDatabase, Tables } from './database.ts';
import { explainSqlError } from './sql-errors.ts';

/** Waiting for another process's lock blocks this one's event loop, so it is kept short; a busy file is a retry. */
const BUSY_MS = 2_000;

/** A file shared by processes: WAL, one statement a write. */
export function openSqlite(path: string, create: boolean): SqlDatabase {
  let handle: DatabaseSync | undefined;
  const open = (): DatabaseSync => (handle ??= openFile(path, create));
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: async () => asKyselyDatabase(open()) }) });
  return {
    dialect: 'sqlite',
    kysely,
    write: async (build, options) => writeOnce(open(), kysely, build, options),
    close: async () => {
      await kysely.destroy();
      if (handle?.isOpen) handle.close();
    },
  };
}

function openFile(path: string, create: boolean): DatabaseSync {
  if (!create && path !== ':memory:' && !existsSync(path)) {
    throw new ConnectorError({ code: 'HRIS_UNREACHABLE', action: 'retry', message: `There is no HRIS database file at ${path}. Check hris.url, or let the demonstration table be made with createTable: true.` });
  }
  try {
    const database = new DatabaseSync(path, { timeout: BUSY_MS });
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    return database;
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  }
}

function writeOnce(database: DatabaseSync, kysely: Kysely<Tables>, build: BuildWrite, options: WriteOptions): Row[] {
  const query = build(sql<boolean>`1 = 1`).compile(kysely);
  if (options.signal.aborted) throw explainSqlError(options.signal.reason, { sent: false });
  const remaining = options.remainingMs?.() ?? BUSY_MS;
  // A lock is waited for inside the statement: the wait must end before the caller's deadline does.
  database.exec(`pragma busy_timeout = ${Math.max(0, Math.min(BUSY_MS, Math.floor(remaining)))}`);
  const statement = database.prepare(query.sql);
  options.beforeSend();
  try {
    return statement.all(...query.parameters.map(bindable)) as Row[];
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  } finally {
    database.exec(`pragma busy_timeout = ${BUSY_MS}`);
  }
}

/** node:sqlite behind the few methods of better-sqlite3 that kysely's own dialect calls. */
function asKyselyDatabase(database: DatabaseSync) {
  return {
    close: () => database.close(),
    prepare: (text: string) => {
      const statement = database.prepare(text);
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...parameters.map(bindable)),
        run: (parameters: readonly unknown[]) => statement.run(...parameters.map(bindable)),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters.map(bindable)),
      };
    },
  };
}

function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return (value ?? null) as SQLInputValue;
}
