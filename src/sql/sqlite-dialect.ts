import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, SqliteDialect } from 'kysely';

/** Waits this long for another process's short transaction before SQLITE_BUSY. */
const BUSY_TIMEOUT_MS = 10_000;

/** DDL in one transaction, so that two processes that migrate at once queue on the file's write lock. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely's own SQLite dialect over node:sqlite instead of a native package. */
export class NodeSqliteDialect extends SqliteDialect {
  constructor(database: DatabaseSync) {
    super({ database: asKyselyDatabase(database) });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }
}

/** Opens a database file for several processes: write-ahead log, waits for locks, foreign keys on. */
export function openSqliteFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.exec('pragma journal_mode = wal');
  database.exec('pragma synchronous = full');
  database.exec('pragma foreign_keys = on');
  return database;
}

function asKyselyDatabase(database: DatabaseSync) {
  return {
    close: () => database.close(),
    prepare(sql: string) {
      // A deferred transaction that upgrades to a write fails at once when another process wrote meanwhile; `immediate` queues.
      const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...parameters.map(toSqlite)),
        run: (parameters: readonly unknown[]) => statement.run(...parameters.map(toSqlite)),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters.map(toSqlite)),
      };
    },
  };
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value as SQLInputValue;
}
