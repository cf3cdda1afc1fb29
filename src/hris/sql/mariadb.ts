import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import { Kysely, MysqlDialect, type MysqlPool, type MysqlPoolConnection, sql } from 'kysely';
import type { Pool, PoolConnection, PoolOptions, ResultSetHeader } from 'mysql2';
import { rejected } from '../../errors.ts';
import type { WriteOptions } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { unlessAborted } from '../read-many.ts';
import {
  explainSqlError,
  halfOf,
  type Row,
  type SqlDatabase,
  type SqlWrite,
  type Tables,
  WRITE_MS,
} from './database.ts';

/** Loads the driver with the first connection, so that processes without MariaDB need not. */
export function openMariadb(url: string): SqlDatabase {
  const pool = openMariadbPool(url);
  const kysely = new Kysely<Tables>({ dialect: new MysqlDialect({ pool: async () => pool.forReads() }) });
  return {
    dialect: 'mariadb',
    kysely,
    write: (one, options) => writeOnce(pool, kysely, one, options),
    whileUsed: (work) => work,
    async close() {
      await kysely.destroy();
      await pool.close();
    },
  };
}

/**
 * Sends one auto-committed statement in one message. It must end before the caller's time is up: half of the time is
 * the latest start, checked by the server's clock inside the statement; the other half is its max_statement_time. It
 * has no `returning`, because MariaDB would then require insert rights on the returned columns, key and number, which
 * are the customer's. The row is read afterwards.
 */
async function writeOnce(
  pool: MariadbPool,
  kysely: Kysely<Tables>,
  one: SqlWrite,
  options: WriteOptions,
): Promise<Row[]> {
  const connection = await connect(pool, options.signal);
  let stage: 'before' | 'refused' | 'sent' = 'before';
  let healthy = false;
  try {
    const half = halfOf(options);
    const asked = 'select cast(utc_timestamp(6) + interval ? microsecond as char) as latest';
    const [clock] = await unlessAborted(options.signal, ask<Row[]>(connection, asked, [half * 1_000]));
    const guard = sql<boolean>`utc_timestamp(6) < cast(${clock?.['latest']} as datetime(6))`;
    const query = sql`set statement max_statement_time = ${half / 1_000} for ${one.build(guard)}`.compile(kysely);
    stage = 'refused';
    options.beforeSend();
    stage = 'sent';
    const written = ask<ResultSetHeader>(connection, query.sql, query.parameters, half * 2);
    const result = await unlessAborted(options.signal, written);
    const rows = await unlessAborted(options.signal, rowsOf(connection, one, result));
    healthy = true;
    return rows;
  } catch (error) {
    if (stage === 'refused') throw error;
    healthy = stage === 'sent' && isVerdict(error);
    throw explainSqlError(healthy ? await withColumns(connection, one.table, error) : error, {
      sent: stage === 'sent',
    });
  } finally {
    if (healthy) connection.release();
    else connection.destroy();
  }
}

/**
 * The row just inserted, by our reference, otherwise by its key if the server counts it up: what it counts up in
 * another column is the key of somebody else. For an update only the number of rows.
 */
async function rowsOf(
  connection: PoolConnection,
  { table, returned, inserted }: SqlWrite,
  { affectedRows, insertId }: Pick<ResultSetHeader, 'affectedRows' | 'insertId'>,
): Promise<Row[]> {
  if (inserted === undefined || affectedRows === 0) return Array.from({ length: affectedRows }, () => ({}));
  const { idColumn, reference } = inserted;
  const read = async (column: string, value: string): Promise<Row | undefined> => {
    const columns = [...returned, column];
    const rows = await ask<Row[]>(connection, 'select ?? from ?? where ?? = ?', [columns, table, column, value]);
    // Compare again: a collation may treat other texts as equal.
    return rows.find((found) => cellText(found[column]) === value);
  };
  let row = reference && (await read(reference.column, reference.value));
  if (row === undefined && insertId !== 0 && (await isCountedUp(connection, table, idColumn)))
    row = await read(idColumn, String(insertId));
  if (row === undefined) throw new Error('The row was written, and cannot be read.');
  return [row];
}

async function isCountedUp(connection: PoolConnection, table: string, column: string): Promise<boolean> {
  const [name = table, schema = null] = table.split('.').toReversed();
  const rows = await ask<Row[]>(
    connection,
    `select 1 from information_schema.columns where table_schema = coalesce(?, database()) and table_name = ?
      and column_name = ? and extra like '%auto_increment%'`,
    [schema, name, column],
  );
  return rows.length > 0;
}

/** An error about a unique value names the key; its columns are reported instead. */
async function withColumns(connection: PoolConnection, table: string, error: unknown): Promise<unknown> {
  const { errno, sqlMessage = '' } = error as { errno?: number; sqlMessage?: string };
  const key = errno === 1062 ? /for key '(?:[^']*\.)?([^'.]+)'$/.exec(sqlMessage)?.[1] : undefined;
  if (key === undefined) return error;
  const [name = table, schema] = table.split('.').toReversed();
  const columns = await ask<{ name: string }[]>(
    connection,
    `select column_name as name from information_schema.statistics
      where table_schema = coalesce(?, database()) and table_name = ? and index_name = ?`,
    [schema ?? null, name, key],
  ).catch(() => []);
  return Object.assign(error as Error, { columns: columns.map((column) => column.name) });
}

/** The server has judged the statement, and the connection can be used further. */
function isVerdict(error: unknown): boolean {
  const { sqlState, fatal } = error as { sqlState?: unknown; fatal?: unknown };
  return typeof sqlState === 'string' && fatal !== true;
}

/** Sends a query with its values in the text; there is an answer or an error after `ms` at the latest. */
function ask<T>(connection: PoolConnection, text: string, values: readonly unknown[], ms = WRITE_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    connection.query({ sql: text, values: [...values], timeout: ms }, (error, result) => {
      if (error === null) resolve(result as T);
      else reject(error);
    });
  });
}

async function connect(pool: MariadbPool, signal: AbortSignal): Promise<PoolConnection> {
  const connecting = pool.connect();
  try {
    return await unlessAborted(signal, connecting);
  } catch (error) {
    void connecting.then(
      (late) => late.release(),
      () => undefined,
    );
    throw explainSqlError(error, { sent: false });
  }
}

const READ_MS = 15_000;

/**
 * Session settings, whatever the server's own are: values that do not fit are refused instead of cut, times are in UTC,
 * and reads have a time limit.
 */
const SESSION = `set session sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION',
  time_zone = '+00:00', autocommit = 1, max_statement_time = ${READ_MS / 1_000}`;

/** A small pool of connections. */
interface MariadbPool {
  connect(): Promise<PoolConnection>;
  /** In the form that Kysely expects. */
  forReads(): MysqlPool;
  close(): Promise<void>;
}

/** Connects at the first use. */
function openMariadbPool(url: string): MariadbPool {
  const options = optionsOf(url);
  const connections = new Set<PoolConnection>();
  let pool: Promise<Pool> | undefined;
  const open = (): Promise<Pool> => {
    pool ??= createPool(options, connections);
    return pool;
  };
  const connect = async (): Promise<PoolConnection> => {
    const opened = await open();
    return new Promise((resolve, reject) => {
      opened.getConnection((error, connection) => (error === null ? resolve(connection) : reject(error)));
    });
  };
  return {
    connect,
    forReads: () => ({
      getConnection: callbackify(async () => reading(await connect())) as MysqlPool['getConnection'],
      end: (done) => done(null),
    }),
    async close() {
      // Destroys connections, because a connection asked to end would wait for an answer that may never come.
      for (const connection of connections) connection.destroy();
      const opened = await pool;
      opened?.end(() => undefined);
    },
  };
}

async function createPool(options: PoolOptions, connections: Set<PoolConnection>): Promise<Pool> {
  const { createPool: create } = await import('mysql2');
  const pool = create(options);
  pool.on('connection', (connection) => {
    connections.add(connection);
    connection.on('end', () => connections.delete(connection));
    connection.query(SESSION, (error) => {
      if (error !== null) connection.destroy();
    });
  });
  return pool;
}

/** A connection with a time limit on reads; one that does not answer is not used again. */
function reading(connection: PoolConnection): MysqlPoolConnection {
  const query = (text: string, values: unknown[], done: (error: unknown, result: never) => void): void => {
    connection.query({ sql: text, values, timeout: READ_MS + 2_000 }, (error, result) => {
      if (error?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
      done(error, result as never);
    });
  };
  return { query: query as never, release: () => connection.release() };
}

/** `mariadb://USER:PASSWORD@HOST:PORT/DATABASE`, with `?sslmode=verify-full` for TLS. */
function optionsOf(text: string): PoolOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const mode = url?.searchParams.get('sslmode') ?? 'disable';
  const unknown = [...(url?.searchParams.keys() ?? [])].filter((name) => name !== 'sslmode');
  const host = url?.hostname.replaceAll(/^\[|\]$/g, '') ?? '';
  // The driver checks certificates only against names, and treats an IP address as `localhost`.
  const knownMode = mode === 'disable' || (mode === 'verify-full' && !isIP(host));
  if (url === undefined || host === '' || unknown.length > 0 || !knownMode)
    throw rejected(
      'HRIS_OPTIONS_INVALID',
      'hris.url is not the address of a MariaDB: write mariadb://USER:PASSWORD@HOST:PORT/DATABASE, followed by ' +
        '?sslmode=verify-full for TLS, with the name in the certificate as HOST.',
    );
  return {
    host,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(mode === 'verify-full' ? { ssl: { rejectUnauthorized: true, verifyIdentity: true } } : {}),
    connectionLimit: 4,
    connectTimeout: 5_000,
    idleTimeout: 30_000,
    enableKeepAlive: true,
    // Days and instants stay text: a JavaScript Date would shift a day by the process's time zone.
    dateStrings: true,
    supportBigNumbers: true,
    connectAttributes: { program_name: 'hirebridge' },
  };
}
