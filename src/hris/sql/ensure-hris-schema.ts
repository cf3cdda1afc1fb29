import { type RawBuilder, sql } from 'kysely';
import type { Column } from '../columns.ts';
import type { Landings } from '../port.ts';
import { changeColumn, postgresChangeTrigger, sqliteChangeTrigger } from './change-trigger.ts';
import type { SqlDatabase } from './database.ts';
import { GONE_AT, landingKeys as key } from './landing-options.ts';
import { openSqlDatabase } from './open-database.ts';
import { directoryView, type SqlOptions, type SqlOptionsInput, sqlOptions } from './options.ts';

/** Creates the demonstration's tables if they are missing. Never for a customer's database. */
export async function ensureHrisSchema(
  url: string,
  options: Omit<SqlOptionsInput, 'url'> = {},
  landings: Landings = {},
): Promise<void> {
  const database = openSqlDatabase(url, { create: true });
  try {
    await database.whileUsed(createHrisTables(database, sqlOptions(landings).parse({ ...options, url })));
  } finally {
    await database.close();
  }
}

/**
 * Creates the employees table, which numbers employees itself (text with leading zeros, from its own counter), and the
 * landing tables.
 */
export async function createHrisTables(database: SqlDatabase, options: SqlOptions): Promise<void> {
  const { dialect } = database;
  await createAll(database, [...employeesTable(dialect, options), ...landingTables(options, TYPES[dialect])]);
}

/** Creates only the landing tables, and the table of open positions. */
export async function createLandingTables(database: SqlDatabase, options: SqlOptions): Promise<void> {
  const types = TYPES[database.dialect];
  await createAll(database, [...landingTables(options, types), ...requisitionTable(options, types)]);
}

async function createAll({ kysely, dialect }: SqlDatabase, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  if (dialect !== 'postgres') {
    // One statement at a time: a transaction kept open across an await would block this process's other connections to
    // an SQLite file for ever, and MariaDB has no transactions for such statements.
    for (const statement of statements) await statement.execute(kysely);
    return;
  }
  await kysely.transaction().execute(async (trx) => {
    // In Postgres, "if not exists" is not safe against a concurrent process; the lock makes it safe.
    await sql`select pg_advisory_xact_lock(hashtext('hirebridge hris schema'))`.execute(trx);
    for (const statement of statements) await statement.execute(trx);
  });
}

/** Column types by field type; `key`: text that is compared by exact characters and can be a key. */
type Types = Record<Column['type'] | 'key', string>;

const EXACT = 'collate utf8mb4_nopad_bin';
export const TYPES: Record<SqlDatabase['dialect'], Types> = {
  postgres: { text: 'text', number: 'numeric', date: 'date', boolean: 'boolean', list: 'text', key: 'text' },
  sqlite: { text: 'text', number: 'numeric', date: 'text', boolean: 'integer', list: 'text', key: 'text' },
  mariadb: {
    text: 'text character set utf8mb4',
    number: 'decimal(20, 6)',
    date: 'date',
    boolean: 'boolean',
    list: 'text character set utf8mb4',
    key: `varchar(190) character set utf8mb4 ${EXACT}`,
  },
};

export function employeesTable(dialect: SqlDatabase['dialect'], options: SqlOptions): RawBuilder<unknown>[] {
  return EMPLOYEES_TABLE[dialect](options);
}

const EMPLOYEES_TABLE: Record<SqlDatabase['dialect'], (options: SqlOptions) => RawBuilder<unknown>[]> = {
  postgres: postgresTable,
  sqlite: sqliteTable,
  mariadb: mariadbTable,
};

function postgresTable(options: SqlOptions): RawBuilder<unknown>[] {
  const sequence = `${options.table}_number_seq`;
  const number = sql`default lpad(nextval(${sql.lit(sequence)}::regclass)::text, 6, '0')`;
  return [
    sql`create sequence if not exists ${sql.table(sequence)} start 123`,
    sql`create table if not exists ${sql.table(options.table)} (
      ${sql.ref(options.idColumn)} bigint generated always as identity primary key,
      ${sql.ref(options.numberColumn)} text not null unique ${number},
      ${fieldColumns(options, TYPES.postgres)}
      ${referenceColumn(options, TYPES.postgres)}
      ${endColumn(options)}
      ${changeColumn(options, 'timestamptz')}
      created_at timestamptz not null default clock_timestamp(),
      visible_at timestamptz not null default clock_timestamp() + ${sql.lit(options.readLag)} * interval '1 ms'
    )`,
    sql`create or replace view ${sql.table(directoryView(options.table))} as
      select * from ${sql.table(options.table)} where visible_at <= clock_timestamp()`,
    ...postgresChangeTrigger(options),
    ...requisitionTable(options, TYPES.postgres),
  ];
}

function sqliteTable(options: SqlOptions): RawBuilder<unknown>[] {
  return [
    sql`create table if not exists ${sql.table(options.table)} (
      ${sql.ref(options.idColumn)} integer primary key autoincrement,
      ${sql.ref(options.numberColumn)} text
        generated always as (coalesce(corrected_number, printf('%06d', ${sql.ref(options.idColumn)} + 122))) virtual,
      corrected_number text,
      ${fieldColumns(options, TYPES.sqlite)}
      ${referenceColumn(options, TYPES.sqlite)}
      ${endColumn(options)}
      ${changeColumn(options, 'real')}
      created_at real not null default (unixepoch('subsec')),
      visible_at real not null default (unixepoch('subsec') + ${sql.lit(options.readLag / 1000)})
    )`,
    sql`create view if not exists ${sql.table(directoryView(options.table))} as
      select * from ${sql.table(options.table)} where visible_at <= unixepoch('subsec')`,
    ...sqliteChangeTrigger(options),
    ...requisitionTable(options, TYPES.sqlite),
  ];
}

function mariadbTable(options: SqlOptions): RawBuilder<unknown>[] {
  const types = TYPES.mariadb;
  const sequence = sql.table(`${options.table}_number_seq`);
  const readLag = sql`interval ${sql.lit(options.readLag * 1_000)} microsecond`;
  return [
    sql`create sequence if not exists ${sequence} start 123`,
    sql`create table if not exists ${sql.table(options.table)} (
      ${sql.ref(options.idColumn)} bigint auto_increment primary key,
      ${sql.ref(options.numberColumn)} varchar(20) not null unique default lpad(nextval(${sequence}), 6, '0'),
      ${fieldColumns(options, types)}
      ${referenceColumn(options, types)}
      ${endColumn(options)}
      ${changeColumn(options, 'timestamp(6)')}
      created_at timestamp(6) not null default current_timestamp(6),
      visible_at timestamp(6) not null default (current_timestamp(6) + ${readLag})
    )`,
    sql`create or replace view ${sql.table(directoryView(options.table))} as
      select * from ${sql.table(options.table)} where visible_at <= current_timestamp(6)`,
    ...requisitionTable(options, types),
  ];
}

function requisitionTable({ requisitions }: SqlOptions, types: Types): RawBuilder<unknown>[] {
  if (requisitions === undefined) return [];
  return [
    sql`create table if not exists ${sql.table(requisitions.table)} (
      ${fieldColumns(requisitions, types)}
      ${sql.ref(requisitions.idColumn)} ${sql.raw(types.key)} primary key
    )`,
  ];
}

export function landingTables(options: Pick<SqlOptions, 'landing'>, types: Types): RawBuilder<unknown>[] {
  return Object.values(options.landing).map(
    (landing) => sql`create table if not exists ${sql.table(landing.table)} (
      ${sql.ref(key.tenant)} ${sql.raw(types.key)} not null,
      ${sql.ref(key.id)} ${sql.raw(types.key)} not null,
      ${fieldColumns(landing, types)}
      ${sql.ref(key.hash)} text not null,
      ${sql.ref(key.at)} timestamp not null default current_timestamp,
      ${sql.ref(GONE_AT)} timestamp null,
      primary key (${sql.ref(key.tenant)}, ${sql.ref(key.id)})
    )`,
  );
}

function fieldColumns(options: { columns: Record<string, Column> }, types: Types): RawBuilder<unknown> {
  return sql.join(
    Object.values(options.columns).map(
      (column) =>
        sql`${sql.ref(column.column)} ${sql.raw(types[column.type])} ${column.required ? sql`not null` : sql``},`,
    ),
    sql` `,
  );
}

function referenceColumn({ referenceColumn: column }: SqlOptions, types: Types): RawBuilder<unknown> {
  return column === undefined ? sql`` : sql`${sql.ref(column)} ${sql.raw(types.key)} unique,`;
}

function endColumn(options: SqlOptions): RawBuilder<unknown> {
  return options.endColumn === undefined ? sql`` : sql`${sql.ref(options.endColumn)} date,`;
}
