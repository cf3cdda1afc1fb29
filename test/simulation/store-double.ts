import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, type QueryResult, sql } from 'kysely';
import { NodeSqliteDialect, openSqliteFile } from '../../src/sql/dialects.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import type { Tables } from '../../src/store/schema.ts';

/** The product's store in memory: one database, and a connection of its own for every process. */
export interface StoreDouble {
  database: DatabaseSync;
  /** `pause` is passed before and after each statement outside a transaction; a dead process's never comes back. */
  connect(pause: Pause): Store;
  /** Somebody deletes the file. */
  forget(): void;
  /** Takes a backup. */
  save(): void;
  /** Puts the backup back. */
  restore(): void;
  all<T>(text: string, ...values: SQLInputValue[]): T[];
}

export type Pause = (point: string) => Promise<void> | undefined;

let schema: string[] | undefined;

/** Opens an empty store; its tables are those the product's own migrations make. */
export async function createStoreDouble(now: () => number): Promise<StoreDouble> {
  schema ??= await readSchema();
  const database = openSqliteFile(':memory:');
  database.function('hirebridge_now', { directOnly: true }, () => now());
  for (const statement of schema) database.exec(statement);
  const tables = schema.flatMap((statement) => /^create table "?(\w+)"?/i.exec(statement)?.[1] ?? []);
  const statements = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const known = statements.get(text) ?? database.prepare(text);
    statements.set(text, known);
    return known;
  };
  return {
    database,
    connect(pause) {
      const dialect = new (class extends NodeSqliteDialect {
        override createDriver(): Driver {
          return createDriver(database, prepare, pause);
        }
      })(database);
      const kysely = new Kysely<Tables>({ dialect });
      return {
        kysely,
        kind: 'sqlite',
        now: sql<number>`hirebridge_now()`,
        installationId: 'hbsimulation',
        close: async () => undefined,
      };
    },
    forget() {
      withoutTriggers(database, () => {
        for (const table of tables) if (!table.startsWith('kysely')) database.exec(`delete from ${table}`);
      });
    },
    save() {
      for (const table of tables) database.exec(`create temp table "saved_${table}" as select * from main."${table}"`);
    },
    restore() {
      database.exec('pragma foreign_keys = off');
      withoutTriggers(database, () => {
        for (const table of tables)
          database.exec(`delete from main."${table}"; insert into main."${table}" select * from "saved_${table}"`);
      });
      database.exec('pragma foreign_keys = on');
    },
    all: <T>(text: string, ...values: SQLInputValue[]) => prepare(text).all(...values) as T[],
  };
}

async function readSchema(): Promise<string[]> {
  const store = await openStore('sqlite::memory:');
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where sql is not null and name not like 'sqlite_%'
      order by case type when 'table' then 0 when 'index' then 1 else 2 end, rootpage`.execute(store.kysely);
  await store.close();
  return rows.map((row) => row.sql);
}

function createDriver(database: DatabaseSync, prepare: (text: string) => StatementSync, pause: Pause): Driver {
  const inTransaction = new WeakSet<DatabaseConnection>();
  const inside = (connection: DatabaseConnection, statement: string, open: boolean): Promise<void> => {
    database.exec(statement);
    if (open) inTransaction.add(connection);
    else inTransaction.delete(connection);
    return Promise.resolve();
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => connect(prepare, pause, inTransaction),
    beginTransaction: (connection) => inside(connection, 'begin immediate', true),
    commitTransaction: (connection) => inside(connection, 'commit', false),
    rollbackTransaction: (connection) => inside(connection, 'rollback', false),
    releaseConnection: async () => undefined,
    destroy: async () => undefined,
  };
}

function connect(
  prepare: (text: string) => StatementSync,
  pause: Pause,
  inTransaction: WeakSet<DatabaseConnection>,
): DatabaseConnection {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = query.query.kind === 'SelectQueryNode' ? 'store.read' : 'store.write';
      const alone = !inTransaction.has(connection);
      if (alone) await pause(`${name}/before`);
      const result = run<R>(prepare(query.sql), query.parameters);
      if (alone) await pause(`${name}/after`);
      return result;
    },
    streamQuery() {
      throw new Error('The simulation does not stream');
    },
  };
  return connection;
}

/** Whether it gives rows: to ask a statement for its columns costs more than to run most of them. */
const givesRows = new WeakMap<StatementSync, boolean>();

function run<R>(statement: StatementSync, parameters: readonly unknown[]): QueryResult<R> {
  const values = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value) as SQLInputValue);
  const hasRows = givesRows.get(statement) ?? statement.columns().length > 0;
  givesRows.set(statement, hasRows);
  if (hasRows) {
    const rows = statement.all(...values) as R[];
    return { rows };
  }
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

/** Whoever loses a store, or puts one back, goes past what triggers refuse. */
function withoutTriggers(database: DatabaseSync, does: () => void): void {
  const triggers = database.prepare("select name, sql from sqlite_master where type = 'trigger'").all();
  for (const { name } of triggers) database.exec(`drop trigger "${String(name)}"`);
  does();
  for (const { sql: text } of triggers) database.exec(String(text));
}
