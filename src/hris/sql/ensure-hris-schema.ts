import { type RawBuilder, sql } from 'kysely';
import type { Column } from '../columns.ts';
import type { Landings } from '../port.ts';
import { changeColumn, postgresChangeTrigger, sqliteChangeTrigger } from './change-trigger.ts';
import type { SqlDatabase } from './database.ts';
import { GONE_AT, landingKeys as key } from './landing-options.ts';
import { openSqlDatabase } from './open-database.ts';
import { directoryView, type SqlOptions, type SqlOptionsInput, sqlOptions } from './options.ts';

/** Creates the demonstration's tables where they are missing. Never for a customer's database. */
export async function ensureHrisSchema(
  url: string,
  options: Omit<SqlOptionsInput, 'url'> = {},
  landings: Landings = {},
): Promise<void> {
  const database = openSqlDatabase(url, { create: true });
  try {
    await createHrisTables(database, sqlOptions(landings).parse({ ...options, url }));
  } finally {
    await database.close();
  }
}

/**
 * The employees table, which numbers the employees itself: text with leading zeros, from a counter apart from the id;
 * and the landing tables.
 */
export async function createHrisTables({ kysely, dialect }: SqlDatabase, options: SqlOptions): Promise<void> {
  if (dialect === 'sqlite') {
    // Each statement by itself: a transaction open across an await would block this process's other connections for
    // good.
    for (const statement of [...sqliteTable(options), ...landingTables(options, SQLITE_TYPES)])
      await statement.execute(kysely);
    return;
  }
  await kysely.transaction().execute(async (trx) => {
    // "if not exists" is not safe against another process in Postgres; the lock makes it so.
    await sql`select pg_advisory_xact_lock(hashtext('hirebridge hris schema'))`.execute(trx);
    for (const statement of [...postgresTable(options), ...landingTables(options, POSTGRES_TYPES)])
      await statement.execute(trx);
  });
}

const POSTGRES_TYPES = { text: 'text', number: 'numeric', date: 'date', boolean: 'boolean', list: 'text' } as const;
const SQLITE_TYPES = { text: 'text', number: 'numeric', date: 'text', boolean: 'integer', list: 'text' } as const;

function postgresTable(options: SqlOptions): RawBuilder<unknown>[] {
  const sequence = `${options.table}_number_seq`;
  const number = sql`default lpad(nextval(${sql.lit(sequence)}::regclass)::text, 6, '0')`;
  return [
    sql`create sequence if not exists ${sql.table(sequence)} start 123`,
    sql`create table if not exists ${sql.table(options.table)} (
      ${sql.ref(options.idColumn)} bigint generated always as identity primary key,
      ${sql.ref(options.numberColumn)} text not null unique ${number},
      ${fieldColumns(options, POSTGRES_TYPES)}
      ${referenceColumn(options)}
      ${endColumn(options)}
      ${changeColumn(options, 'timestamptz')}
      created_at timestamptz not null default clock_timestamp(),
      visible_at timestamptz not null default clock_timestamp() + ${sql.lit(options.readLag)} * interval '1 ms'
    )`,
    sql`create or replace view ${sql.table(directoryView(options.table))} as
      select * from ${sql.table(options.table)} where visible_at <= clock_timestamp()`,
    ...postgresChangeTrigger(options),
    ...requisitionTable(options, POSTGRES_TYPES),
  ];
}

function sqliteTable(options: SqlOptions): RawBuilder<unknown>[] {
  return [
    sql`create table if not exists ${sql.table(options.table)} (
      ${sql.ref(options.idColumn)} integer primary key autoincrement,
      ${sql.ref(options.numberColumn)} text
        generated always as (coalesce(corrected_number, printf('%06d', ${sql.ref(options.idColumn)} + 122))) virtual,
      corrected_number text,
      ${fieldColumns(options, SQLITE_TYPES)}
      ${referenceColumn(options)}
      ${endColumn(options)}
      ${changeColumn(options, 'real')}
      created_at real not null default (unixepoch('subsec')),
      visible_at real not null default (unixepoch('subsec') + ${sql.lit(options.readLag / 1000)})
    )`,
    sql`create view if not exists ${sql.table(directoryView(options.table))} as
      select * from ${sql.table(options.table)} where visible_at <= unixepoch('subsec')`,
    ...sqliteChangeTrigger(options),
    ...requisitionTable(options, SQLITE_TYPES),
  ];
}

function requisitionTable(
  { requisitions }: SqlOptions,
  types: typeof POSTGRES_TYPES | typeof SQLITE_TYPES,
): RawBuilder<unknown>[] {
  if (requisitions === undefined) return [];
  return [
    sql`create table if not exists ${sql.table(requisitions.table)} (
      ${fieldColumns(requisitions, types)}
      ${sql.ref(requisitions.idColumn)} text primary key
    )`,
  ];
}

function landingTables(options: SqlOptions, types: typeof POSTGRES_TYPES | typeof SQLITE_TYPES): RawBuilder<unknown>[] {
  return Object.values(options.landing).map(
    (landing) => sql`create table if not exists ${sql.table(landing.table)} (
      ${sql.ref(key.tenant)} text not null,
      ${sql.ref(key.id)} text not null,
      ${fieldColumns(landing, types)}
      ${sql.ref(key.hash)} text not null,
      ${sql.ref(key.at)} timestamp not null default current_timestamp,
      ${sql.ref(GONE_AT)} timestamp,
      primary key (${sql.ref(key.tenant)}, ${sql.ref(key.id)})
    )`,
  );
}

function fieldColumns(
  options: { columns: Record<string, Column> },
  types: typeof POSTGRES_TYPES | typeof SQLITE_TYPES,
): RawBuilder<unknown> {
  return sql.join(
    Object.values(options.columns).map(
      (column) =>
        sql`${sql.ref(column.column)} ${sql.raw(types[column.type])} ${column.required ? sql`not null` : sql``},`,
    ),
    sql` `,
  );
}

function referenceColumn(options: SqlOptions): RawBuilder<unknown> {
  return options.referenceColumn === undefined ? sql`` : sql`${sql.ref(options.referenceColumn)} text unique,`;
}

function endColumn(options: SqlOptions): RawBuilder<unknown> {
  return options.endColumn === undefined ? sql`` : sql`${sql.ref(options.endColumn)} date,`;
}
