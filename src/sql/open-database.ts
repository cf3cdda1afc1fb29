import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import ipaddr from 'ipaddr.js';
import {
  Kysely,
  type KyselyConfig,
  type KyselyPlugin,
  type LogEvent,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type RawBuilder,
  sql,
} from 'kysely';
import pg from 'pg';
import { ConnectorError, rejected } from '../errors.ts';
import { isTracing, tracePast } from '../trace.ts';
import { within } from '../within.ts';
import { AGAIN_MS, explainTrouble } from './database-trouble.ts';
import { NodeSqliteDialect, openSqliteFile } from './dialects.ts';

/** Limits that a Postgres address may set, by Postgres' and libpq's names. */
const BOUNDS = {
  /** Seconds to wait for a new connection, or for a free one in the pool. */
  connect_timeout: 5,
  /** Milliseconds, enforced by the server. */
  statement_timeout: 15_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  /** Milliseconds that data may stay unacknowledged by the other end. */
  tcp_user_timeout: 10_000,
  /** Idle seconds before the first keep-alive. */
  keepalives_idle: 10,
} as const;

type DatabaseBounds = Record<keyof typeof BOUNDS, number>;

/** Extra time for the server to report its own timeout. */
const GRACE_MS = 2_000;
/** A statement that takes this long may be slow, wait for a lock, or be lost: the server is asked which. */
const SUSPECT_MS = 3_000;
const LOOK_MS = 500;
const ASK_MS = 2_000;
/** How long the server must have been idle on a connection whose answer we still wait for. */
const SETTLED_MS = 1_000;

/** The server is no longer the one we connected to: it is ending, has ended, or became read-only. */
const OTHER_SERVER = /^(?:08...|57P0[1-5]|25006|25P03)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

export interface Database<Tables> {
  kysely: Kysely<Tables>;
  kind: 'sqlite' | 'postgres';
  /**
   * The database's own clock, milliseconds since 1970. It decides on leases, deadlines and rate limits; a process's
   * clock never does.
   */
  now: RawBuilder<number>;
  close(): Promise<void>;
}

export interface OpenOptions {
  plugins?: KyselyPlugin[];
  /** For tests that control the clock (SQLite): replaces the machine's. */
  now?: () => number;
  /** SQLite: commits do not wait for the disk; they survive this process's end, but perhaps not the machine's. */
  relaxed?: boolean;
  /** SQLite: only this user may read a newly made file or folder. */
  ownerOnly?: boolean;
  /** Maximum number of Postgres connections. */
  poolSize?: number;
}

const INT8 = 20;
const POSTGRES_NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Opens `sqlite:FILE` (`sqlite::memory:`) or `postgres://...`. Throws DATABASE_URL for anything else. */
export function openDatabase<Tables>(url: string, options: OpenOptions = {}): Database<Tables> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options);
  if (url.startsWith('postgres://') || url.startsWith('postgresql://')) return openPostgres(url, options);
  throw new ConnectorError({
    code: 'DATABASE_URL',
    action: 'reject',
    message: 'A database address begins with sqlite: or postgres://. Give one of the two.',
  });
}

function openSqlite<Tables>(file: string, options: OpenOptions): Database<Tables> {
  if (file !== ':memory:') makeFile(file, options.ownerOnly === true);
  const explained = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw explainTrouble(error, file);
    }
  };
  const database = explained(() => openSqliteFile(file));
  if (options.relaxed === true) database.exec('pragma synchronous = normal');
  // Overwrites deleted data, which would otherwise stay readable in free pages.
  if (options.ownerOnly === true) database.exec('pragma secure_delete = on');
  const now = options.now ?? Date.now;
  database.function('hirebridge_now', { directOnly: true }, () => now());
  const dialect = new NodeSqliteDialect(database, {
    explained,
    ...(file === ':memory:' ? {} : { before: stays(file) }),
  });
  const kysely = new Kysely<Tables>({ dialect, ...settings('sqlite', options) });
  return { kysely, kind: 'sqlite', now: sql<number>`hirebridge_now()`, close: () => kysely.destroy() };
}

/** SQLite writes on into a file that was deleted or replaced: a webhook would be answered 200, and lost. */
function stays(file: string): () => void {
  const fileNow = () => {
    const { dev, ino } = statSync(file, { throwIfNoEntry: false }) ?? {};
    return `${dev} ${ino}`;
  };
  const opened = fileNow();
  return () => {
    if (fileNow() !== opened) throw movedAway(file);
  };
}

/** SQLite gives the files beside it (-wal, -shm) the database's mode. */
function makeFile(file: string, ownerOnly: boolean): void {
  mkdirSync(dirname(file), { recursive: true, ...(ownerOnly ? { mode: 0o700 } : {}) });
  if (ownerOnly && !existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

function openPostgres<Tables>(url: string, options: OpenOptions): Database<Tables> {
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
  } as pg.CustomTypesConfig;
  const pool = openPool(url, options.poolSize ?? 10, types);
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), ...settings('postgresql', options) });
  return { kysely, kind: 'postgres', now: POSTGRES_NOW, close: () => kysely.destroy() };
}

/** Kysely waits for its log after each statement, so a log is set only if spans are made. */
function settings(system: string, { plugins = [] }: OpenOptions): Pick<KyselyConfig, 'plugins' | 'log'> {
  return isTracing() ? { plugins, log: (event) => noteStatement(system, event) } : { plugins };
}

/** Verb and table of a statement; if it begins with another (`with`), of the statement itself. */
const STATEMENT = /\b(insert|update|delete|select)\b[^]*?(?:\b(?:into|from|update)\s+)?"(\w+)"/i;

/** Records neither text nor values: some statements carry records as JSON. */
function noteStatement(system: string, { level, query, queryDurationMillis }: LogEvent): void {
  const [, verb = 'statement', table = ''] = STATEMENT.exec(query.sql) ?? [];
  const operation = verb.toLowerCase();
  const facts = { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': table };
  const failed = level === 'error' ? { failed: 'SQL_ERROR' } : {};
  tracePast(
    `store.${operation}${table === '' ? '' : `.${table}`}`,
    { kind: 'client', facts, ...failed },
    queryDurationMillis,
  );
}

/** Splits a Postgres address into its limits and the rest. @throws ConnectorError DATABASE_URL */
function readBounds(url: string): { bounds: DatabaseBounds; address: string } {
  assertNotInClear(url, 'DATABASE_URL');
  const address = URL.parse(url) ?? unreadable();
  const bounds: DatabaseBounds = { ...BOUNDS };
  for (const name of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]) {
    const given = address.searchParams.get(name);
    if (given === null) continue;
    if (!/^\d{1,9}$/.test(given)) throw notANumber(name);
    bounds[name] = Number(given);
    address.searchParams.delete(name);
  }
  return { bounds, address: address.href };
}

/** A Postgres address with other limits. */
export function withBounds(url: string, bounds: Partial<DatabaseBounds>): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(bounds)) address.searchParams.set(name, String(value));
  return address.href;
}

function settingsOf(bounds: DatabaseBounds, address: string): pg.ClientConfig {
  return {
    connectionString: address,
    application_name: 'hirebridge',
    connectionTimeoutMillis: bounds.connect_timeout * 1_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: bounds.keepalives_idle * 1_000,
    ...(bounds.statement_timeout === 0 ? {} : { query_timeout: bounds.statement_timeout + GRACE_MS }),
  };
}

/** Sets them on the new connection instead of in its startup message: poolers refuse a connection that does so. */
async function setBounds(client: pg.ClientBase, bounds: DatabaseBounds): Promise<void> {
  const { statement_timeout, lock_timeout, idle_in_transaction_session_timeout, tcp_user_timeout } = bounds;
  const times = { statement_timeout, lock_timeout, idle_in_transaction_session_timeout, tcp_user_timeout };
  // With a stricter default of the server, processes that change one row at the same time would refuse each other.
  const names = [...Object.keys(times), 'default_transaction_isolation'];
  await client.query(
    'select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)',
    [names, [...Object.values(times).map((value) => `${value}ms`), 'read committed']],
  );
}

/** A single connection outside a pool, not yet opened. */
export function createConnection(url: string, queryMs: number): Client {
  const { bounds, address } = readBounds(url);
  return new Client({ ...settingsOf(bounds, address), query_timeout: queryMs });
}

/** Owns its socket: an orderly end would wait for an answer that a silent connection never gives. */
class Client extends pg.Client {
  readonly socket: Socket;
  /** Must not be used again. */
  isLost = false;

  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
    // A dying connection also emits an error on the client; without a listener that would end the process.
    this.on('error', () => undefined);
  }

  drop(): void {
    this.isLost = true;
    this.socket.destroy();
  }
}

function ours(client: pg.PoolClient): Client {
  return client as unknown as Client;
}

interface UnderWay {
  client: Client;
  since: number;
}

/**
 * A pool that gives up connections once they are known to be lost. Keep-alive and the server's own timeouts end a
 * hanging connection only after long; so while a statement takes long, the pool asks the server on a new connection
 * whether it is working on it. If it is not, or does not know the connection, that one and every idle connection are
 * dropped, since all of them date from before the failure. If the server cannot be asked, the timeouts decide.
 */
function openPool(url: string, most: number, types: pg.CustomTypesConfig): PostgresPool {
  const { bounds, address } = readBounds(url);
  const settings = settingsOf(bounds, address);
  const pool = new pg.Pool({
    ...settings,
    max: most,
    types,
    Client: Client as unknown as typeof pg.Client,
    // The pool awaits this function, although its types do not say so.
    onConnect: ((client: pg.ClientBase) => setBounds(client, bounds)) as unknown as (client: pg.ClientBase) => void,
  });
  // An idle connection closed by the server must not end the process; the next query reports it.
  pool.on('error', () => undefined);
  const open = new Set<Client>();
  const idle = new Set<Client>();
  const underWay = new Set<UnderWay>();
  pool.on('connect', (client) => open.add(ours(client)));
  pool.on('acquire', (client) => idle.delete(ours(client)));
  pool.on('release', (_error, client) => idle.add(ours(client)));
  pool.on('remove', (client) => {
    open.delete(ours(client));
    idle.delete(ours(client));
  });

  /** Everything connected so far may be connected to a server that is gone. */
  function dropOthers(): void {
    for (const client of open) {
      if (idle.has(client)) client.drop();
      else client.isLost = true;
    }
  }

  let asking = false;
  const looking = setInterval(() => {
    const suspects = [...underWay].filter(({ since }) => performance.now() - since > SUSPECT_MS);
    if (asking || suspects.length === 0) return;
    asking = true;
    void lostAmong(suspects, settings)
      .then((lost) => {
        // Leaves out statements whose answer arrived in the meantime.
        const gone = lost.filter((one) => underWay.has(one));
        if (gone.length > 0) dropOthers();
        for (const { client } of gone) client.drop();
      })
      .finally(() => {
        asking = false;
      });
  }, LOOK_MS).unref();

  async function query(client: Client, text: string, parameters: readonly unknown[]) {
    if (client.isLost && !client.socket.writable) {
      // The connection's end has rolled the transaction back already.
      if (text === 'rollback') return { command: 'ROLLBACK', rowCount: 0, rows: [] };
      throw silent();
    }
    const one = { client, since: performance.now() };
    underWay.add(one);
    try {
      return await client.query(text, [...parameters]);
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      const isAnswer = typeof code === 'string' && SQLSTATE.test(code);
      if (isAnswer && !OTHER_SERVER.test(code)) throw explainTrouble(error);
      if (isAnswer) dropOthers();
      client.drop();
      // An error that is not the server's answer says nothing about the statement, only that its connection is gone.
      if (!isAnswer) throw silent(error);
      throw code.startsWith('57P') ? unreachable(error) : explainTrouble(error);
    } finally {
      underWay.delete(one);
    }
  }

  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw unreachable(error);
      });
      const own = ours(client);
      return {
        query: (text: string, parameters: readonly unknown[]) => query(own, text, parameters),
        release() {
          if (own.isLost) own.drop();
          client.release(own.isLost);
        },
      } as unknown as PostgresPoolClient;
    },
    async end() {
      clearInterval(looking);
      await within(GRACE_MS, pool.end());
      for (const client of open) client.drop();
    },
  };
}

/**
 * The statements that the server is not working on. Empty if it cannot be asked, or if a pooler is in between, which
 * hides the server's processes.
 */
async function lostAmong(suspects: readonly UnderWay[], settings: pg.ClientConfig): Promise<UnderWay[]> {
  const asking = new Client({ ...settings, connectionTimeoutMillis: ASK_MS, query_timeout: ASK_MS });
  try {
    await asking.connect();
    const { rows } = await asking.query<{ own: number; pid: number | null }>(
      `select pg_backend_pid() as own, pid from (select 1) as one
        left join pg_stat_activity on pid = any($1::int[])
          and (state = 'active' or clock_timestamp() - state_change < $2::int * interval '1 ms')`,
      [suspects.map(({ client }) => processOf(client)), SETTLED_MS],
    );
    if (rows[0]?.own !== processOf(asking)) return [];
    const works = new Set(rows.map(({ pid }) => pid));
    return suspects.filter(({ client }) => !works.has(processOf(client)));
  } catch {
    return [];
  } finally {
    asking.drop();
  }
}

/**
 * Whether a pooler gives this process another session of the server for each transaction, as PgBouncer does in
 * transaction mode. What names the server's processes in its own way may be a pooler or any other proxy, so two
 * connections then show whether they share a session. Some tries, because other clients may be faster.
 */
export async function sharesSessions(url: string): Promise<boolean> {
  const [one, other] = [createConnection(url, ASK_MS), createConnection(url, ASK_MS)];
  const sessionOf = async (client: Client): Promise<number | undefined> =>
    (await client.query<{ own: number }>('select pg_backend_pid() as own')).rows[0]?.own;
  try {
    await Promise.all([one.connect(), other.connect()]);
    if ((await sessionOf(one)) === processOf(one)) return false;
    for (let tries = 0; tries < 3; tries += 1) {
      const before = await sessionOf(one);
      await other.query('begin');
      const isShared = (await sessionOf(other)) === before || (await sessionOf(one)) !== before;
      await other.query('rollback');
      if (isShared) return true;
    }
    return false;
  } catch (error) {
    throw unreachable(error);
  } finally {
    one.drop();
    other.drop();
  }
}

/** The server process of a connection, as named by the server at its start. */
function processOf(client: Client): number {
  return Number((client as unknown as { processID: number | null }).processID);
}

function silent(cause?: unknown): ConnectorError {
  return new ConnectorError({
    code: 'DATABASE_SILENT',
    action: 'retry',
    message:
      'The connection to the database broke or stopped answering during a statement. It is unknown whether the ' +
      'statement was carried out. It is tried again on a new connection.',
    retryAfterMs: AGAIN_MS,
    cause,
  });
}

function unreachable(cause: unknown): ConnectorError {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  const said = [code, message].filter((one) => typeof one === 'string' && one !== '');
  const reason = said.length === 0 ? 'unknown reason' : said.join(': ');
  return new ConnectorError({
    code: 'DATABASE_UNREACHABLE',
    action: 'retry',
    message: `There is no connection to the database now (${reason}). It is tried again.`,
    retryAfterMs: AGAIN_MS,
    cause,
  });
}

function movedAway(file: string): ConnectorError {
  return new ConnectorError({
    code: 'DATABASE_MOVED',
    action: 'retry',
    message:
      `${file} was deleted, moved or replaced while this process had it open, so nothing is written any more. Put ` +
      'the right file there, and restart every hirebridge on this machine.',
    retryAfterMs: AGAIN_MS,
  });
}

function unreadable(): never {
  throw rejected(
    'DATABASE_URL',
    'The database address cannot be read. Write special characters of its password by their percent code, such as # ' +
      'as %23, / as %2F, ? as %3F and % as %25.',
  );
}

function notANumber(name: string): ConnectorError {
  return rejected(
    'DATABASE_URL',
    `The database address does not give ${name} as a whole number. ` +
      `Correct it, or leave it out to use ${BOUNDS[name as keyof typeof BOUNDS]}.`,
  );
}

/** Modes that Postgres takes from the environment and that mean TLS. */
const TLS_BY_ENVIRONMENT = /^(?:prefer|require|verify-ca|verify-full|no-verify)$/;
/** Parameters of an address that decide about TLS. */
const DECISIVE = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert'] as const;

/**
 * Requires `sslmode` in an address on another machine, because sending a password and personal data unencrypted must be
 * an explicit decision.
 * @throws ConnectorError with the given code
 */
export function assertNotInClear(url: string, code: 'DATABASE_URL' | 'HRIS_OPTIONS_INVALID'): void {
  if (!URL.canParse(url)) return;
  const { searchParams: said, hostname, protocol } = new URL(url);
  const host = said.get('host') ?? (hostname === '' ? (process.env['PGHOST'] ?? 'localhost') : unescape(hostname));
  const decided = DECISIVE.some((name) => Boolean(said.get(name))) || /^(?:true|1)$/.test(said.get('ssl') ?? '');
  const byEnvironment = protocol !== 'mariadb:' && TLS_BY_ENVIRONMENT.test(process.env['PGSSLMODE'] ?? '');
  if (isThisMachine(host) || decided || byEnvironment) return;
  throw new ConnectorError({
    code,
    action: 'reject',
    message:
      'The database is on another machine, and its address does not ask for TLS: the password and personal data ' +
      'would travel unencrypted, so nothing was sent. Add sslmode=verify-full to the address (behind ? or &), or ' +
      'sslmode=disable if the network between is trusted.',
  });
}

/** A socket in a folder, or loopback. Other names are not resolved: they may lead elsewhere a moment later. */
function isThisMachine(host: string): boolean {
  if (host.startsWith('/') || host.toLowerCase() === 'localhost') return true;
  const address = host.replaceAll(/^\[|\]$/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

function unescape(hostname: string): string {
  try {
    return decodeURIComponent(hostname);
  } catch {
    return hostname;
  }
}
