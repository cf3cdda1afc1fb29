import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate as otherWork } from 'node:timers/promises';
import {
  type DatabaseConnection,
  type Driver,
  type RawBuilder,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  sql,
} from 'kysely';

type JsonDialect = 'sqlite' | 'postgres';

/** Wait for another process's short transaction before SQLITE_BUSY. */
const BUSY_TIMEOUT_MS = 10_000;

/** Runs DDL in one transaction, so that two processes that migrate at the same time queue for the file's write lock. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Statements are synchronous: after this long in a row, ms, other work in this process gets its turn. */
const MOST_IN_A_ROW_MS = 10;

/** When the current row of statements without other work in between began. */
let rowBegan: number | undefined;

/** Gives the event loop a turn: awaiting synchronous statements alone never would. */
async function letOthersWork(): Promise<void> {
  if (rowBegan === undefined) {
    rowBegan = performance.now();
    setImmediate(() => {
      rowBegan = undefined;
    });
    return;
  }
  if (performance.now() - rowBegan > MOST_IN_A_ROW_MS) await otherWork();
}

/** The latest transaction on each file in use; the next one waits for it. */
const lastOf = new Map<string, Promise<void>>();

/**
 * Connections of one process to one file take turns. Otherwise a connection waiting for the file's write lock would
 * block the very thread that must finish the other's transaction, until the busy timeout.
 */
class TurnTakingDriver extends SqliteDriver {
  /** Undefined for a database in memory: it is small and not shared, so no turns are needed. */
  readonly #file: string | undefined;
  readonly #database: DatabaseSync;
  readonly #before: Reading['before'];
  #endTurn: () => void = () => undefined;

  constructor(database: DatabaseSync, how: Reading) {
    super({ database: asKyselyDatabase(database, how) });
    this.#database = database;
    this.#before = how.before;
    this.#file = database.location() ?? undefined;
  }

  /** A full disk, for one, ends a transaction by itself: the error of a second end would hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#before?.();
    if (this.#file !== undefined) await this.#takeTurn(this.#file);
    return await super.acquireConnection();
  }

  async #takeTurn(file: string): Promise<void> {
    await letOthersWork();
    const before = lastOf.get(file);
    const { promise, resolve } = Promise.withResolvers<void>();
    lastOf.set(file, promise);
    await before;
    this.#endTurn = () => {
      if (lastOf.get(file) === promise) lastOf.delete(file);
      resolve();
    };
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
    this.#endTurn();
  }
}

/** How rows are read. `exact`: the customer's integers may exceed a number; these are read as text. */
interface Reading {
  exact?: boolean;
  /** Runs a statement, and explains its error. */
  explained?: <T>(work: () => T) => T;
  /** Called before each transaction and each statement outside one; throws if there shall be none. */
  before?: () => void;
}

/** Kysely's SQLite dialect on node:sqlite instead of a native package. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #driver: Driver;

  constructor(database: DatabaseSync, how: Reading = {}) {
    super({ database: asKyselyDatabase(database, how) });
    this.#driver = new TurnTakingDriver(database, how);
  }

  override createDriver(): Driver {
    return this.#driver;
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

/**
 * Prepared statements kept for reuse. V8 does not see the memory that SQLite holds for one: without reuse, a page of
 * 100 rows costs a megabyte until some later collection.
 */
const KEPT_STATEMENTS = 100;

/** Integers of a row as numbers, or as text if a number would change them; node:sqlite itself would throw for those. */
export function withExactIntegers<Row extends object>(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    Object.assign(row, { [name]: Number.isSafeInteger(number) ? number : String(value) });
  }
  return row;
}

function asKyselyDatabase(database: DatabaseSync, { exact = false, explained = (work) => work() }: Reading) {
  const kept = new Map<string, StatementSync>();
  function prepared(sql: string): StatementSync {
    const known = kept.get(sql);
    // A deferred transaction that upgrades to a write fails at once if another process wrote in the meantime;
    // `immediate` queues.
    const statement = known ?? database.prepare(sql === 'begin' ? 'begin immediate' : sql);
    if (exact) statement.setReadBigInts(true);
    kept.delete(sql);
    kept.set(sql, statement);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_STATEMENTS && oldest !== undefined) kept.delete(oldest);
    return statement;
  }
  return {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = explained(() => prepared(sql));
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => {
          const rows = explained(() => statement.all(...parameters.map(toSqlite)));
          return exact ? rows.map(withExactIntegers) : rows;
        },
        run: (parameters: readonly unknown[]) => explained(() => statement.run(...parameters.map(toSqlite))),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters.map(toSqlite)),
      };
    },
  };
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value as SQLInputValue;
}

/**
 * Selects rows passed as one JSON parameter, each value in its column's type in `table`. A parameter for each value
 * would cost the client more than the write costs the database: a page of a hundred rows has over a thousand.
 */
export function selectRows(
  dialect: JsonDialect,
  table: string,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): RawBuilder<unknown> {
  return selectJson(dialect, table, columns, JSON.stringify(rows));
}

/** Like `selectRows`, for a list that is JSON already. */
export function selectJson(
  dialect: JsonDialect,
  table: string,
  columns: readonly string[],
  json: string,
): RawBuilder<unknown> {
  if (dialect === 'postgres') {
    const all = sql.join(columns.map((column) => sql.ref(column)));
    return sql`select ${all} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`;
  }
  const all = sql.join(columns.map((column) => sql`value ->> ${sql.lit(`$."${column}"`)} as ${sql.ref(column)}`));
  // Without a condition, SQLite would parse the `on` of `on conflict` as a join's.
  return sql`select ${all} from json_each(${json}) where true`;
}

/** A NUL character, or half of a surrogate pair: Postgres refuses either, and the whole statement with it. */
export function hasEscapeUnknownToPostgres(json: string): boolean {
  if (!json.includes('\\u')) return false;
  const escapes = json.replaceAll('\\\\', ' ').replaceAll(/\\ud[89ab]..\\ud[c-f]../gi, ' ');
  return /\\u(?:0000|d[89a-f])/i.test(escapes);
}

/** Whether a column holds one of these values, passed as one parameter. */
export function isAmong(dialect: JsonDialect, column: string, values: readonly string[]): RawBuilder<boolean> {
  return dialect === 'postgres'
    ? sql<boolean>`${sql.ref(column)} = any(${values})`
    : sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}
