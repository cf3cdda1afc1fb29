import { type RawBuilder, sql } from 'kysely';
import type { Column } from '../option-types.ts';
import type { FieldsInUse, SetupStatement } from '../port.ts';
import type { SqlDatabase } from './database.ts';
import { describeTable, userOf } from './describe.ts';
import { openSqlDatabase } from './open-database.ts';
import {
  directoryView,
  GONE_AT,
  landingKeys as key,
  type LandingTable,
  narrowed,
  type RequisitionTable,
  type SqlOptions,
} from './options.ts';

type Dialect = SqlDatabase['dialect'];

/**
 * Creates the employees table, which numbers employees itself (text with leading zeros, from its own counter), and the
 * landing tables.
 */
export async function createHrisTables(database: SqlDatabase, options: SqlOptions): Promise<void> {
  const { dialect } = database;
  await createAll(database, [...EMPLOYEES_TABLE[dialect](options), ...landingTables(options, TYPES[dialect])]);
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
const TYPES: Record<Dialect, Types> = {
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

const EMPLOYEES_TABLE: Record<Dialect, (options: SqlOptions) => RawBuilder<unknown>[]> = {
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
  return requisitions === undefined ? [] : [listTable(requisitions, types)];
}

function listTable({ table, idColumn, columns }: ListTable, types: Types): RawBuilder<unknown> {
  const others = Object.entries(columns).filter(([, { column }]) => column !== idColumn);
  return sql`create table if not exists ${sql.table(table)} (
      ${fieldColumns({ columns: Object.fromEntries(others) }, types)}
      ${sql.ref(idColumn)} ${sql.raw(types.key)} primary key
    )`;
}

function landingTables(options: Pick<SqlOptions, 'landing'>, types: Types): RawBuilder<unknown>[] {
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

/**
 * Statements for tables, columns, triggers and rights that the fields in use need: an existing table gets only the
 * columns that it lacks. Reads only; a database that does not answer counts as empty.
 */
export async function setupOf(given: SqlOptions, inUse: FieldsInUse): Promise<SetupStatement[]> {
  const options = narrowed({ ...given, createTable: false }, inUse);
  const database = openSqlDatabase(given.url);
  const { dialect } = database;
  const columnsOf = async (table: string): Promise<ReadonlySet<string>> => {
    const described = await database.whileUsed(describeTable(database, table, {})).catch(() => []);
    return new Set(described.map(({ label }) => label));
  };
  try {
    const statements = withSubject('employee', employees(dialect, options, await columnsOf(options.table)));
    for (const stream of Object.keys(inUse.landing)) {
      const table = options.landing[stream];
      if (table === undefined) continue;
      statements.push(...withSubject(stream, landing(dialect, { stream, table }, await columnsOf(table.table))));
    }
    for (const [stream, list] of listsIn(options)) {
      const there = await columnsOf(list.table);
      const made =
        there.size === 0 ? [listTable(list, TYPES[dialect])] : missingFields(dialect, list.table, list.columns, there);
      statements.push(...withSubject(stream, made));
    }
    const rights = rightsOf(given.url, dialect, options, Object.keys(inUse.landing));
    return [...statements, ...rights].map(({ subject, statement }) => ({
      subject,
      text: `${unindented(statement.compile(database.kysely).sql)};`,
    }));
  } finally {
    await database.close();
  }
}

interface About {
  subject: string;
  statement: RawBuilder<unknown>;
}

function withSubject(subject: string, statements: readonly RawBuilder<unknown>[]): About[] {
  return statements.map((statement) => ({ subject, statement }));
}

function employees(dialect: Dialect, options: SqlOptions, there: ReadonlySet<string>): RawBuilder<unknown>[] {
  if (there.size === 0) return EMPLOYEES_TABLE[dialect]({ ...options, columns: options.reads });
  const types = TYPES[dialect];
  const { table, numberColumn, referenceColumn, endColumn, changes, job } = options;
  const wanted: [string | undefined, string][] = [
    [numberColumn, types.key],
    [referenceColumn, types.key],
    [endColumn, types.date],
    [job?.errorColumn, types.text],
    [changes?.column, CHANGED_AT[dialect]],
  ];
  const isMissing = (column: string | undefined): column is string => column !== undefined && !there.has(column);
  const own = wanted.flatMap(([column, type]) => (isMissing(column) ? [addColumn(table, column, type)] : []));
  const triggers: Partial<Record<Dialect, (made: SqlOptions) => RawBuilder<unknown>[]>> = {
    postgres: postgresChangeTrigger,
    sqlite: sqliteChangeTrigger,
  };
  return [
    ...own,
    ...missingFields(dialect, table, options.reads, there),
    ...(isMissing(referenceColumn) ? [uniqueIndex(table, referenceColumn)] : []),
    ...(isMissing(changes?.column) ? (triggers[dialect]?.(options) ?? []) : []),
  ];
}

/** SQLite cannot add a column with a computed default, so existing rows get a value at their first change. */
const CHANGED_AT: Record<Dialect, string> = {
  postgres: 'timestamptz not null default clock_timestamp()',
  mariadb: 'timestamp(6) not null default current_timestamp(6) on update current_timestamp(6)',
  sqlite: 'real',
};

function landing(
  dialect: Dialect,
  { stream, table }: { stream: string; table: LandingTable },
  there: ReadonlySet<string>,
): RawBuilder<unknown>[] {
  const types = TYPES[dialect];
  if (there.size === 0) return landingTables({ landing: { [stream]: table } }, types);
  const gone = there.has(GONE_AT) ? [] : [addColumn(table.table, GONE_AT, 'timestamp null')];
  return [...missingFields(dialect, table.table, table.columns, there), ...gone];
}

/** A table that is only read: of open positions, or of files that become candidates. */
type ListTable = Pick<RequisitionTable, 'table' | 'idColumn' | 'columns'>;

/** By stream. */
function listsIn({ requisitions, resumes }: SqlOptions): [string, ListTable][] {
  const lists: [string, ListTable][] = [];
  if (requisitions !== undefined) lists.push(['requisitions', requisitions]);
  if (resumes !== undefined) {
    const link = { type: 'text', required: false } as const;
    const columns = { job: { ...link, column: resumes.jobColumn }, url: { ...link, column: resumes.urlColumn } };
    lists.push(['resumes', { ...resumes, columns }]);
  }
  return lists;
}

function missingFields(
  dialect: Dialect,
  table: string,
  columns: Readonly<Record<string, Column>>,
  there: ReadonlySet<string>,
): RawBuilder<unknown>[] {
  const missing = Object.values(columns).filter(({ column }) => !there.has(column));
  return missing.map(({ column, type }) => addColumn(table, column, TYPES[dialect][type]));
}

function addColumn(table: string, column: string, type: string): RawBuilder<unknown> {
  return sql`alter table ${sql.table(table)} add column ${sql.ref(column)} ${sql.raw(type)}`;
}

function uniqueIndex(table: string, column: string): RawBuilder<unknown> {
  const name = `${table.split('.').at(-1)}_${column}`;
  return sql`create unique index ${sql.ref(name)} on ${sql.table(table)} (${sql.ref(column)})`;
}

/** Rights for the user in the address; SQLite has no rights. */
function rightsOf(url: string, dialect: Dialect, options: SqlOptions, streams: readonly string[]): About[] {
  const user = userOf(url);
  if (dialect === 'sqlite' || user === undefined) return [];
  const to = dialect === 'postgres' ? sql.ref(user) : sql`${sql.lit(user)}@'%'`;
  const { table, readFrom, reads, referenceColumn, endColumn } = options;
  const written = [...Object.values(reads).map(({ column }) => column), referenceColumn, endColumn];
  const columns = sql.join(written.flatMap((column) => (column === undefined ? [] : [sql.ref(column)])));
  const ofEmployees = [
    sql`grant select, insert on ${sql.table(table)} to ${to}`,
    sql`grant update (${columns}) on ${sql.table(table)} to ${to}`,
    ...(readFrom === table ? [] : [sql`grant select on ${sql.table(readFrom)} to ${to}`]),
  ];
  const landed = streams.flatMap((stream) => {
    const at = options.landing[stream]?.table;
    if (at === undefined) return [];
    return withSubject(stream, [sql`grant select, insert, update, delete on ${sql.table(at)} to ${to}`]);
  });
  const read = listsIn(options).flatMap(([stream, list]) =>
    withSubject(stream, [sql`grant select on ${sql.table(list.table)} to ${to}`]),
  );
  return [...withSubject('employee', ofEmployees), ...landed, ...read];
}

function unindented(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line, at) => (at === 0 || line.startsWith(')') ? line : `  ${line}`))
    .join('\n');
}

/** The column of a table made by us that says when a row was changed. */
function changeColumn({ changes }: SqlOptions, type: keyof typeof NOW): RawBuilder<unknown> {
  return changes === undefined
    ? sql``
    : sql`${sql.ref(changes.column)} ${sql.raw(type)} not null default ${sql.raw(NOW[type])},`;
}

/** MariaDB updates the column itself. */
const NOW = {
  timestamptz: 'clock_timestamp()',
  real: "(unixepoch('subsec'))",
  'timestamp(6)': 'current_timestamp(6) on update current_timestamp(6)',
} as const;

/** Sets the column at every update that does not set it itself. */
function sqliteChangeTrigger({ table, idColumn, changes }: SqlOptions): RawBuilder<unknown>[] {
  if (changes === undefined) return [];
  const [column, id] = [sql.ref(changes.column), sql.ref(idColumn)];
  return [
    sql`create trigger if not exists ${sql.table(`${table}_changed`)} after update on ${sql.table(table)}
      when new.${column} is old.${column}
      begin update ${sql.table(table)} set ${column} = unixepoch('subsec') where ${id} = new.${id}; end`,
  ];
}

function postgresChangeTrigger({ table, changes }: SqlOptions): RawBuilder<unknown>[] {
  if (changes === undefined) return [];
  const name = sql.table(`${table}_changed`);
  const column = sql.ref(changes.column);
  return [
    sql`create or replace function ${name}() returns trigger language plpgsql as
      $$ begin new.${column} := clock_timestamp(); return new; end $$`,
    sql`create or replace trigger ${name} before update on ${sql.table(table)}
      for each row execute function ${name}()`,
  ];
}
