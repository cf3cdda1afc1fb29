import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { ConnectorError } from '../../errors.ts';
import { NodeSqliteDialect, openSqliteFile, withExactIntegers } from '../../sql/dialects.ts';
import { assertNotInClear } from '../../sql/open-database.ts';
import type { WriteOptions } from '../port.ts';
import { unlessAborted } from '../read-many.ts';
import {
  explainSqlError,
  halfOf,
  type Row,
  returning,
  type SqlDatabase,
  type SqlWrite,
  type Tables,
} from './database.ts';
import { openMariadb } from './mariadb.ts';

/**
 * Opens `sqlite:PATH`, `postgres://...` or `mariadb://...`; connects at the first use. With `create`, SQLite makes the
 * file.
 */
export function openSqlDatabase(url: string, options: { create?: boolean } = {}): SqlDatabase {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options.create ?? false);
  assertNotInClear(url, 'HRIS_OPTIONS_INVALID');
  return url.startsWith('mariadb:') ? openMariadb(url) : openPostgres(url);
}

const READ_MS = 15_000;
/** Days and instants stay text: a JavaScript Date would shift a day by the process's time zone. */
const AS_TEXT = new Set([1082, 1114, 1184]);
/** A `char(n)` is sent with blanks up to its length, and compared without them. */
const PADDED = 1042;

/** A small pool. A write has two time limits of its own; see writeOnce. */
function openPostgres(url: string): SqlDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    application_name: 'hirebridge',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: READ_MS,
    query_timeout: READ_MS + 2_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === PADDED
          ? (text: string) => text.replace(/ +$/, '')
          : AS_TEXT.has(oid)
            ? String
            : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
    // A role or database may have another style, in which days are not YYYY-MM-DD. The pool awaits it.
    onConnect: ((client) => client.query('set datestyle to iso')) as (client: pg.ClientBase) => void,
  });
  // A dying connection also emits an error on the client object; without a listener that would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    dialect: 'postgres',
    kysely,
    write: (one, options) => writeOnce(pool, kysely, one, options),
    whileUsed: (work) => work,
    async close() {
      // Kysely ends the pool only if it was used through Kysely.
      await kysely.destroy();
      if (!pool.ending) await pool.end();
    },
  };
}

/**
 * Sends one auto-committed statement in one message. With parameters it would be several messages, and the last one
 * commits without a timeout: one lost packet could commit it long after everybody gave up. It must end before the
 * caller's time is up: half of the time is the latest start, checked by the server's clock inside the statement; the
 * other half is its statement_timeout.
 */
async function writeOnce(pool: pg.Pool, kysely: Kysely<Tables>, one: SqlWrite, options: WriteOptions): Promise<Row[]> {
  const client = await connect(pool);
  let stage: 'before' | 'refused' | 'sent' = 'before';
  let healthy = false;
  try {
    const half = halfOf(options);
    const clock = client.query<{ latest: string }>(
      `select set_config('statement_timeout', $1, false),
        (clock_timestamp() + $2::int * interval '1 ms')::text as latest`,
      [String(half), half],
    );
    const { rows } = await unlessAborted(options.signal, clock);
    const guard = sql<boolean>`clock_timestamp() < ${rows[0]?.latest}::timestamptz`;
    const query = returning(one, guard).compile(kysely);
    stage = 'refused';
    options.beforeSend();
    stage = 'sent';
    const sent = client.query<Row>({ text: withLiterals(query), query_timeout: half * 2 } as pg.QueryConfig);
    const result = await unlessAborted(options.signal, sent);
    healthy = true;
    return result.rows;
  } catch (error) {
    if (stage === 'refused') throw error;
    throw explainSqlError(error, { sent: stage === 'sent', user: client.user });
  } finally {
    if (healthy)
      client.query('reset statement_timeout').then(
        () => client.release(),
        () => client.release(true),
      );
    else client.release(true);
  }
}

/**
 * Puts the values into the text, quoted, so that they take their column's type as parameters would. No table or column
 * name contains a `$`.
 */
function withLiterals({ sql: text, parameters }: CompiledQuery): string {
  return text.replaceAll(/\$(\d+)/g, (_all, place: string) => {
    const value = parameters[Number(place) - 1];
    return value === null || value === undefined
      ? 'null'
      : pg.escapeLiteral(String(value as string | number | boolean));
  });
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw explainSqlError(error, { sent: false });
  }
}

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
function openSqlite(path: string, create: boolean): SqlDatabase {
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
    write: async (one, options) => writeLocked(open(), one, options),
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
function writeLocked({ file, kysely }: Handle, one: SqlWrite, options: WriteOptions): Row[] {
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
