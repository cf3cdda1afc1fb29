import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import { NodeSqliteDialect, openSqliteFile, withExactIntegers } from '../../sql/sqlite-dialect.ts';
import type { WriteOptions } from '../port.ts';
import { type Row, returning, type SqlDatabase, type SqlWrite, type Tables } from './database.ts';
import { explainSqlError } from './sql-errors.ts';

/** Waiting for another process's lock blocks the event loop, so the wait is short; a busy file is a retry. */
const BUSY_MS = 2_000;

interface Handle {
  file: DatabaseSync;
  kysely: Kysely<Tables>;
}

/**
 * An unused file is closed after this long, like a pool's idle connection: it costs 200 KB of memory, and a worker may
 * have a thousand tenants.
 */
const IDLE_MS = 1_000;

/** A file shared by processes: WAL, one statement for each write. Opened on use. */
export function openSqlite(path: string, create: boolean): SqlDatabase {
  let handle: Handle | undefined;
  let [working, idle]: [number, NodeJS.Timeout | undefined] = [0, undefined];
  const close = async (): Promise<void> => {
    const closing = handle;
    handle = undefined;
    await closing?.kysely.destroy();
    if (closing?.file.isOpen) closing.file.close();
  };
  const open = (): Handle => {
    clearTimeout(idle);
    idle = setTimeout(() => void (working === 0 && path !== ':memory:' && close()), IDLE_MS).unref();
    handle ??= openFile(path, create);
    return handle;
  };
  return {
    dialect: 'sqlite',
    get kysely() {
      return open().kysely;
    },
    write: async (one, options) => writeOnce(open(), one, options),
    async whileUsed(work) {
      working += 1;
      try {
        return await work;
      } finally {
        working -= 1;
        if (handle !== undefined) open();
      }
    },
    close,
  };
}

function openFile(path: string, create: boolean): Handle {
  if (!create && path !== ':memory:' && !existsSync(path)) {
    throw new ConnectorError({
      code: 'HRIS_UNREACHABLE',
      action: 'retry',
      message:
        `There is no HRIS database file at ${path}. Check hris.url, or let the demonstration table be made ` +
        'with createTable: true.',
    });
  }
  try {
    if (create && path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    const file = openSqliteFile(path);
    file.exec(`pragma busy_timeout = ${BUSY_MS}`);
    return { file, kysely: new Kysely<Tables>({ dialect: new NodeSqliteDialect(file, { exact: true }) }) };
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  }
}

/**
 * The statement contains its deadline, and reads the clock while it holds the file's write lock: a process suspended
 * between the caller's check and the write finds its time over, and one suspended later blocks everybody else's writes.
 */
function writeOnce({ file, kysely }: Handle, one: SqlWrite, options: WriteOptions): Row[] {
  if (options.signal.aborted) throw explainSqlError(options.signal.reason, { sent: false });
  const remaining = options.remainingMs?.() ?? BUSY_MS;
  const latest = options.remainingMs === undefined ? Number.MAX_SAFE_INTEGER : Date.now() + remaining;
  const query = returning(one, sql<boolean>`unixepoch('subsec') * 1000 < ${latest}`).compile(kysely);
  const statement = prepare(file, query.sql);
  // SQLite waits for a lock inside the statement, so the wait must end before the caller's deadline.
  file.exec(`pragma busy_timeout = ${Math.max(0, Math.min(BUSY_MS, Math.floor(remaining)))}`);
  try {
    options.beforeSend();
    return run(statement, query.parameters);
  } finally {
    file.exec(`pragma busy_timeout = ${BUSY_MS}`);
  }
}

function prepare(file: DatabaseSync, text: string): ReturnType<DatabaseSync['prepare']> {
  try {
    const statement = file.prepare(text);
    statement.setReadBigInts(true);
    return statement;
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  }
}

/** The database runs in this process: the statement either ran or did not, so its outcome is never unknown. */
function run(statement: ReturnType<DatabaseSync['prepare']>, parameters: readonly unknown[]): Row[] {
  try {
    const values = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)));
    return statement.all(...(values as SQLInputValue[])).map(withExactIntegers);
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  }
}
