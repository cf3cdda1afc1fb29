import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { ConnectorError } from '../../errors.ts';
import { assertNotInClear } from '../../sql/assert-not-in-clear.ts';
import type { WriteOptions } from '../port.ts';
import { type Row, returning, type SqlDatabase, type SqlWrite, type Tables } from './database.ts';
import { openMariadb } from './mariadb.ts';
import { explainSqlError } from './sql-errors.ts';
import { openSqlite } from './sqlite.ts';
import { whileOpen } from './while-open.ts';

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
const WRITE_MS = 15_000;
/** Days and instants stay text: a JavaScript Date would shift a day by the process's time zone. */
const AS_TEXT = new Set([1082, 1114, 1184]);

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
        AS_TEXT.has(oid) ? String : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
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
 * Sends one auto-committed statement in one message. With parameters it would be several messages, the last of which
 * commits without a timeout: one lost packet could commit it long after everybody gave up. It must end before the
 * caller's time is up: half of the time is the latest start, checked by the server's clock inside the statement; the
 * other half is its statement_timeout.
 */
async function writeOnce(pool: pg.Pool, kysely: Kysely<Tables>, one: SqlWrite, options: WriteOptions): Promise<Row[]> {
  const client = await connect(pool);
  let stage: 'before' | 'refused' | 'sent' = 'before';
  let healthy = false;
  try {
    const half = Math.floor(Math.min(options.remainingMs?.() ?? WRITE_MS, WRITE_MS) / 2);
    if (half < 1)
      throw new ConnectorError({
        code: 'DEADLINE_PASSED',
        action: 'retry',
        message: 'The deadline of this write passed before it was sent; nothing was written.',
      });
    const { rows } = await whileOpen(
      client.query<{ latest: string }>(
        `select set_config('statement_timeout', $1, false),
          (clock_timestamp() + $2::int * interval '1 ms')::text as latest`,
        [String(half), half],
      ),
      options.signal,
    );
    const guard = sql<boolean>`clock_timestamp() < ${rows[0]?.latest}::timestamptz`;
    const query = returning(one, guard).compile(kysely);
    stage = 'refused';
    options.beforeSend();
    stage = 'sent';
    const result = await whileOpen(
      client.query<Row>({ text: withLiterals(query), query_timeout: half * 2 } as pg.QueryConfig),
      options.signal,
    );
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
