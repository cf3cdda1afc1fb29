import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import type { Pool, PoolConnection, PoolOptions } from 'mysql2';
import { ConnectorError } from '../../errors.ts';

const READ_MS = 15_000;

/**
 * What a session must be, whatever the server's own settings are: values that do not fit are refused instead of cut,
 * times are in UTC, and a read ends.
 */
const SESSION = `set session sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION',
  time_zone = '+00:00', autocommit = 1, max_statement_time = ${READ_MS / 1_000}`;

/** A small pool of connections. */
export interface MariadbPool {
  connect(): Promise<PoolConnection>;
  /** As Kysely wants it. */
  forReads(): MysqlPool;
  close(): Promise<void>;
}

/** Connects at the first use. */
export function openMariadbPool(url: string): MariadbPool {
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
      // Told to end, a connection would wait for an answer that may never come.
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

/** A connection whose reads end in time; one that did not answer is not used again. */
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
  // The driver compares a certificate with names alone, and takes an IP address for `localhost`.
  const knownMode = mode === 'disable' || (mode === 'verify-full' && !isIP(host));
  if (url === undefined || host === '' || unknown.length > 0 || !knownMode)
    throw new ConnectorError({
      code: 'HRIS_OPTIONS_INVALID',
      action: 'reject',
      message:
        'hris.url is no address of a MariaDB: write mariadb://USER:PASSWORD@HOST:PORT/DATABASE, and behind it ' +
        '?sslmode=verify-full for TLS, with the name that the certificate is made out to as HOST.',
    });
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
    // Days and instants stay text: a JavaScript Date would move a day by the process's time zone.
    dateStrings: true,
    supportBigNumbers: true,
    connectAttributes: { program_name: 'hirebridge' },
  };
}
