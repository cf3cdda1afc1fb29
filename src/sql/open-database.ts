import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  Kysely,
  type KyselyConfig,
  type KyselyPlugin,
  type LogEvent,
  PostgresDialect,
  type RawBuilder,
  sql,
} from 'kysely';
import pg from 'pg';
import { ConnectorError } from '../errors.ts';
import { isTracing, tracePast } from '../trace.ts';
import { openPool } from './postgres-pool.ts';
import { NodeSqliteDialect, openSqliteFile } from './sqlite-dialect.ts';

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
  const database = openSqliteFile(file);
  if (options.relaxed === true) database.exec('pragma synchronous = normal');
  // Overwrites deleted data, which would otherwise stay readable in free pages.
  if (options.ownerOnly === true) database.exec('pragma secure_delete = on');
  const now = options.now ?? Date.now;
  database.function('hirebridge_now', { directOnly: true }, () => now());
  const kysely = new Kysely<Tables>({ dialect: new NodeSqliteDialect(database), ...settings('sqlite', options) });
  return { kysely, kind: 'sqlite', now: sql<number>`hirebridge_now()`, close: () => kysely.destroy() };
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
