import { type RawBuilder, sql } from 'kysely';
import type { Column } from '../columns.ts';
import type { FieldsInUse, SetupStatement } from '../port.ts';
import { postgresChangeTrigger, sqliteChangeTrigger } from './change-trigger.ts';
import type { SqlDatabase } from './database.ts';
import { describeTable } from './describe.ts';
import { employeesTable, landingTables, TYPES } from './ensure-hris-schema.ts';
import { GONE_AT, type LandingTable } from './landing-options.ts';
import { openSqlDatabase } from './open-database.ts';
import { narrowed, type SqlOptions } from './options.ts';
import { userOf } from './probe.ts';

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

type Dialect = SqlDatabase['dialect'];

function employees(dialect: Dialect, options: SqlOptions, there: ReadonlySet<string>): RawBuilder<unknown>[] {
  if (there.size === 0) return employeesTable(dialect, { ...options, columns: options.reads });
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
  return [...withSubject('employee', ofEmployees), ...landed];
}

function unindented(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line, at) => (at === 0 || line.startsWith(')') ? line : `  ${line}`))
    .join('\n');
}
