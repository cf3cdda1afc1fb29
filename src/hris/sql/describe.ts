import { access, constants } from 'node:fs/promises';
import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { nearest } from '../../in-words.ts';
import type { Column } from '../option-types.ts';
import type { DescribedField, FieldDef } from '../port.ts';
import { explainSqlError, grant, quotedName, type SqlDatabase } from './database.ts';
import { openSqlDatabase } from './open-database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';

/** The database's description of one column. */
interface RawColumn {
  name: string;
  /** The declared type, with its length or digits if it has them: `varchar(40)`, `numeric(8,2)`. */
  declared: string;
  /** Postgres: the type's category, `N` for numbers; none in SQLite. */
  category?: string;
  notNull: boolean;
  /** It has a default, or the database generates the value. */
  filled: boolean;
  /** Values of an enum type. */
  values?: string[] | null;
}

/**
 * The columns of a table as the database describes them, named by the field they hold, or by their own name if none.
 * Empty if this user sees no columns of the table.
 */
export async function describeTable(
  database: SqlDatabase,
  table: string,
  columns: Readonly<Record<string, Column>>,
): Promise<DescribedField[]> {
  const { raw, checks, hasTrigger } = await READ[database.dialect](database, table);
  const keys = new Map(Object.entries(columns).map(([key, { column }]) => [column, key]));
  return raw.map((one) => {
    const { options, maxLength } = readChecks(checks, one.name);
    const field = keys.get(one.name);
    return {
      key: field ?? one.name,
      label: one.name,
      isField: field !== undefined,
      // A trigger may fill a column without a default.
      required: one.notNull && !one.filled && !hasTrigger,
      ...typeOf(one),
      ...(maxLength === undefined ? {} : { maxLength }),
      ...withOptions(one.values ?? options),
    };
  });
}

function withOptions(options: string[] | undefined): Pick<DescribedField, 'options'> {
  return options === undefined ? {} : { options };
}

interface RawTable {
  raw: RawColumn[];
  /** Check constraints as SQL text. */
  checks: string[];
  hasTrigger: boolean;
}

const READ: Record<SqlDatabase['dialect'], (database: SqlDatabase, table: string) => Promise<RawTable>> = {
  postgres: readPostgres,
  mariadb: readMariadb,
  sqlite: readSqlite,
};

async function readPostgres({ kysely }: SqlDatabase, table: string): Promise<RawTable> {
  const quoted = quotedName(table);
  const columns = await sql<RawColumn>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as declared, t.typcategory::text as category,
      a.attnotnull as "notNull", (a.atthasdef or a.attidentity <> '' or a.attgenerated <> '') as filled,
      (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as values
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where a.attrelid = to_regclass(${quoted}) and a.attnum > 0 and not a.attisdropped
    order by a.attnum`.execute(kysely);
  const constraints = await sql<{ text: string }>`
    select pg_get_constraintdef(oid) as text from pg_constraint
    where conrelid = to_regclass(${quoted}) and contype = 'c'`.execute(kysely);
  // Bits of a trigger's type: 2 before, 4 on insert.
  const triggers = await sql<{ one: number }>`
    select 1 as one from pg_trigger
    where tgrelid = to_regclass(${quoted}) and not tgisinternal and tgtype & 6 = 6 limit 1`.execute(kysely);
  return { raw: columns.rows, checks: constraints.rows.map(({ text }) => text), hasTrigger: triggers.rows.length > 0 };
}

async function readSqlite({ kysely }: SqlDatabase, table: string): Promise<RawTable> {
  const name = table.split('.').at(-1) ?? table;
  const { rows } = await sql<{ name: string; type: string; notnull: number; dflt: string | null; hidden: number }>`
    select name, type, "notnull", dflt_value as dflt, hidden from pragma_table_xinfo(${name})`.execute(kysely);
  const made = await sql<{ sql: string | null }>`
    select sql from sqlite_master where type = 'table' and name = ${name}`.execute(kysely);
  const raw = rows.map(({ name: column, type, notnull, dflt, hidden }) => ({
    name: column,
    declared: type.toLowerCase(),
    notNull: notnull === 1,
    filled: dflt !== null || hidden !== 0,
  }));
  return { raw, checks: made.rows.flatMap(({ sql: text }) => text ?? []), hasTrigger: false };
}

/** MariaDB shows checks and triggers to users with rights on the table, not to those with rights on columns only. */
async function readMariadb({ kysely }: SqlDatabase, table: string): Promise<RawTable> {
  const [name = table, schema = null] = table.split('.').toReversed();
  const here = sql`coalesce(${schema}, database())`;
  const { rows } = await sql<{ name: string; type: string; nullable: string; fallback: string | null; extra: string }>`
    select column_name as name, column_type as type, is_nullable as nullable, column_default as fallback, extra
    from information_schema.columns where table_schema = ${here} and table_name = ${name}
    order by ordinal_position`.execute(kysely);
  const checks = await sql<{ text: string }>`select check_clause as text from information_schema.check_constraints
    where constraint_schema = ${here} and table_name = ${name}`.execute(kysely);
  const triggers = await sql<{ one: number }>`select 1 as one from information_schema.triggers
    where event_object_schema = ${here} and event_object_table = ${name}
      and action_timing = 'BEFORE' and event_manipulation = 'INSERT' limit 1`.execute(kysely);
  const raw = rows.map(({ name: column, type, nullable, fallback, extra }) => ({
    name: column,
    ...mariadbType(type),
    notNull: nullable === 'NO',
    filled: fallback !== null || extra !== '',
  }));
  return { raw, checks: checks.rows.map(({ text }) => withDoubledQuotes(text)), hasTrigger: triggers.rows.length > 0 };
}

function mariadbType(type: string): Pick<RawColumn, 'declared' | 'values'> {
  if (type.startsWith('enum(')) return { declared: 'text', values: quotedTexts(type) };
  if (type.startsWith('set(')) return { declared: 'set' };
  return { declared: type === 'tinyint(1)' ? 'boolean' : type };
}

/** MariaDB escapes a quote or a backslash in a text with a backslash; the others double the quote. */
function withDoubledQuotes(check: string): string {
  return check.replaceAll(/\\(['\\])/g, (_all, one: string) => (one === "'" ? "''" : one));
}

type Typed = Pick<DescribedField, 'type' | 'maxLength' | 'decimals'>;

const CATEGORIES: Record<string, FieldDef['type']> = { S: 'text', E: 'text', N: 'number', D: 'date', B: 'boolean' };

/** Field types by the words of a declared type, for SQLite; the first match counts. */
const WORDS: readonly [RegExp, FieldDef['type']][] = [
  [/char|text|clob/, 'text'],
  [/bool/, 'boolean'],
  [/int|real|floa|doub|num|dec/, 'number'],
  [/date|time/, 'date'],
];

function typeOf({ declared, category }: RawColumn): Typed {
  const type = category === undefined ? WORDS.find(([word]) => word.test(declared))?.[1] : CATEGORIES[category];
  const [, first, second] = /\((\d+)(?:,(\d+))?\)/.exec(declared) ?? [];
  if (type === 'text' && first !== undefined) return { type, maxLength: Number(first) };
  if (type !== 'number') return { type: type ?? 'other' };
  if (/int|serial/.test(declared)) return { type, decimals: 0 };
  return first === undefined ? { type } : { type, decimals: Number(second ?? 0) };
}

interface Bounds {
  options?: string[];
  maxLength?: number;
}

/**
 * Reads check constraints of one column in the two forms that people usually write: a list of values, and a length. The
 * database enforces all others when a row is written.
 */
function readChecks(checks: readonly string[], column: string): Bounds {
  const text = checks.join('\n');
  const name = `["\`]?${column}["\`]?`;
  // MariaDB prints no brackets around a check. Postgres prints `x in ('a', 'b')` as `(x)::text = ANY ((ARRAY['a'::text,
  // 'b'::text])::text[])`.
  const listed =
    new RegExp(`(?:^|\\()\\s*${name}\\s+in\\s*\\(([^)]*)\\)`, 'im').exec(text) ??
    new RegExp(`\\(*${name}\\)?(?:::[a-z ]+)?\\s*=\\s*ANY\\s*\\(+ARRAY\\[([^\\]]*)\\]`, 'i').exec(text);
  const long = new RegExp(
    `(?:char_length|character_length|length)\\(\\(*${name}\\)?(?:::[a-z ]+)?\\)\\s*<=\\s*(\\d+)`,
    'i',
  ).exec(text);
  const options = quotedTexts(listed?.[1] ?? '');
  return {
    ...(options.length === 0 ? {} : { options }),
    ...(long === null ? {} : { maxLength: Number(long[1]) }),
  };
}

/** The texts between quotes; a quote inside is doubled. */
function quotedTexts(text: string): string[] {
  return [...text.matchAll(/'((?:[^']|'')*)'/g)].map(([, one = '']) => one.replaceAll("''", "'"));
}

/** A table as a database shows it to a first-time visitor. */
export interface OwnTable {
  name: string;
  columns: OwnColumn[];
}

export interface OwnColumn extends Pick<DescribedField, 'type' | 'required' | 'options' | 'maxLength'> {
  name: string;
  /** Part of the primary key. */
  isKey: boolean;
  /** Values of a few rows as text, because existing values show what a column means. Personal data. */
  samples: string[];
}

const MOST_TABLES = 100;
const SAMPLE_ROWS = 20;

/**
 * The tables of a database with their columns, or one table. Reads only.
 * @throws ConnectorError TABLE_UNKNOWN, TOO_MANY_TABLES, or why it cannot be reached
 */
export async function readOwnTables(url: string, only?: string): Promise<OwnTable[]> {
  const database = openSqlDatabase(url);
  try {
    return await database.whileUsed(readAll(database, only));
  } catch (error) {
    throw isConnectorError(error) ? error : explainSqlError(error, { sent: false });
  } finally {
    await database.close();
  }
}

async function readAll(database: SqlDatabase, only: string | undefined): Promise<OwnTable[]> {
  const names = (await tableNames(database)).toSorted();
  if (only !== undefined && !names.includes(only)) {
    const near = nearest(only, names);
    const meant =
      near === undefined ? `It shows: ${names.slice(0, MOST_TABLES).join(', ') || 'none'}.` : `Did you mean "${near}"?`;
    throw rejected('TABLE_UNKNOWN', `The database shows no table ${only}. ${meant}`);
  }
  if (only === undefined && names.length > MOST_TABLES)
    throw rejected(
      'TOO_MANY_TABLES',
      `This database shows ${names.length} tables. Name the one of employees with --table, or connect as a user who ` +
        'sees only that one.',
    );
  const tables: OwnTable[] = [];
  for (const name of only === undefined ? names : [only]) tables.push(await readTable(database, name));
  return tables;
}

async function readTable(database: SqlDatabase, name: string): Promise<OwnTable> {
  const described = await describeTable(database, name, {});
  const keys = new Set(await keyColumns(database, name));
  const rows = await sampleRows(database, name);
  const columns = described.map(({ label, type, required, options, maxLength }) => ({
    name: label,
    type,
    required,
    ...(options === undefined ? {} : { options }),
    ...(maxLength === undefined ? {} : { maxLength }),
    isKey: keys.has(label),
    samples: rows.flatMap((row) => sampleOf(row[label])),
  }));
  return { name, columns };
}

/** Binary values and documents reveal nothing about a column's meaning. */
function sampleOf(value: unknown): string[] {
  if (value instanceof Date) return [value.toISOString()];
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? [String(value)] : [];
}

/** A user who may not read rows still gets the columns. */
async function sampleRows({ kysely }: SqlDatabase, table: string): Promise<Record<string, unknown>[]> {
  const query = sql<Record<string, unknown>>`select * from ${sql.table(table)} limit ${sql.lit(SAMPLE_ROWS)}`;
  return query.execute(kysely).then(
    ({ rows }) => rows,
    () => [],
  );
}

async function keyColumns({ dialect, kysely }: SqlDatabase, table: string): Promise<string[]> {
  const [name = table, schema = null] = table.split('.').toReversed();
  const queries: Record<SqlDatabase['dialect'], RawBuilder<{ name: string }>> = {
    postgres: sql`select a.attname as name from pg_index i
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indisprimary and i.indrelid = to_regclass(${quotedName(table)})`,
    mariadb: sql`select column_name as name from information_schema.columns
      where table_schema = coalesce(${schema}, database()) and table_name = ${name} and column_key = 'PRI'`,
    sqlite: sql`select name from pragma_table_info(${name}) where pk > 0`,
  };
  return (await queries[dialect].execute(kysely)).rows.map((row) => row.name);
}

/** Tables and views that this user sees, with their schema if it is needed. */
async function tableNames({ dialect, kysely }: SqlDatabase): Promise<string[]> {
  return (await TABLES[dialect].execute(kysely)).rows.map(({ name }) => name);
}

const TABLES: Record<SqlDatabase['dialect'], RawBuilder<{ name: string }>> = {
  postgres: sql`select case when n.nspname = any (current_schemas(false)) then c.relname
      else n.nspname || '.' || c.relname end as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')`,
  mariadb: sql`select table_name as name from information_schema.tables where table_schema = database()`,
  sqlite: sql`select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'`,
};

/** Checks that table, view and columns exist and that we may insert. Reads no row and writes nothing. */
export async function probeEmployees(database: SqlDatabase, options: SqlOptions): Promise<void> {
  const { kysely } = database;
  const columns = employeeColumns(options);
  const user = userOf(options.url);
  for (const table of new Set([options.table, options.readFrom]))
    await probeColumns(database, { table, columns, user });
  if (options.requisitions !== undefined) {
    const { table, idColumn, columns: fields } = options.requisitions;
    const needed = [idColumn, ...Object.values(fields).map(({ column }) => column)];
    await probeColumns(database, { table, columns: needed, user });
  }
  if (options.resumes !== undefined) {
    const { table, idColumn, jobColumn, urlColumn } = options.resumes;
    await probeColumns(database, { table, columns: [idColumn, jobColumn, urlColumn], user });
  }
  if (!(await MAY_INSERT[database.dialect](kysely, options)))
    throw new ConnectorError({
      code: 'HRIS_FORBIDDEN',
      action: 'reauthorize',
      message:
        `This HRIS database user may not insert into ${options.table}. ` +
        `${grant('select, insert', options.table, user ?? 'USER')} Or name the right user in hris.url.`,
    });
}

/** Our user name in the database; SQLite has no users. */
export function userOf(url: string): string | undefined {
  const user = decodeURIComponent(URL.parse(url)?.username ?? '');
  return user === '' ? undefined : user;
}

interface Probed {
  table: string;
  columns: readonly string[];
  user: string | undefined;
}

async function probeColumns(database: SqlDatabase, probed: Probed): Promise<void> {
  const select = selectNothing(database.kysely, probed.table);
  await select(probed.columns).catch(async (error: unknown) => {
    throw (await explained(database, select, probed)) ?? error;
  });
}

type SelectNothing = (columns: readonly string[]) => Promise<unknown>;

function selectNothing(kysely: SqlDatabase['kysely'], table: string): SelectNothing {
  return (columns) => {
    // Qualified names, because SQLite treats an unknown quoted name as text.
    const list = sql.join(columns.map((column) => sql`t.${sql.ref(column)}`));
    return sql`select ${list} from ${sql.table(table)} as t where 1 = 0`.execute(kysely);
  };
}

/** Names the missing or forbidden table or columns; undefined if the fault is something else. */
async function explained(
  database: SqlDatabase,
  select: SelectNothing,
  { table, columns, user = 'USER' }: Probed,
): Promise<ConnectorError | undefined> {
  const failing: string[] = [];
  for (const column of columns) await select([column]).catch(() => failing.push(column));
  if (failing.length === 0) return undefined;
  const there = (await describeTable(database, table, {})).map(({ label }) => label);
  if (there.length === 0) return missingTable(database, table);
  const missing = failing.filter((column) => !there.includes(column));
  if (missing.length === 0) {
    const all = failing.length === columns.length;
    const rights = all ? 'select, insert' : `select (${failing.join(', ')})`;
    return new ConnectorError({
      code: 'HRIS_FORBIDDEN',
      action: 'reauthorize',
      message:
        `This HRIS database user may not read ${all ? table : `${failing.join(', ')} of ${table}`}. ` +
        grant(rights, table, user),
      details: { columns: failing },
    });
  }
  const others = there.filter((column) => !columns.includes(column));
  const similar = missing.flatMap((column) => near(column, others));
  return rejected(
    'HRIS_MISCONFIGURED',
    `The HRIS table ${table} has no column ${missing.join(', ')}, or this user may not read it.${similar.join('')} ` +
      "Name the right one under hris.fields, or set the field to null in the tenant's mapping, or add it there: " +
      'hirebridge ddl TENANT prints the statements.',
    { details: { columns: missing } },
  );
}

async function missingTable(database: SqlDatabase, table: string): Promise<ConnectorError | undefined> {
  const names = await tableNames(database);
  if (names.includes(table)) return undefined;
  return rejected(
    'HRIS_MISCONFIGURED',
    `The HRIS database has no table or view ${table} that this user sees.${near(table, names).join('')} Name the ` +
      'right one under hris (table, readFrom, requisitions.table), or make it: hirebridge ddl TENANT prints the ' +
      'statements.',
    { details: { table } },
  );
}

/** Suggests the name that was probably meant. */
function near(name: string, among: readonly string[]): string[] {
  const found = nearest(name, among);
  return found === undefined ? [] : [` Did you mean "${found}" instead of "${name}"?`];
}

type MayInsert = (kysely: SqlDatabase['kysely'], options: SqlOptions) => Promise<boolean>;

const MAY_INSERT: Record<SqlDatabase['dialect'], MayInsert> = {
  postgres: hasInsertPrivilege,
  mariadb: explainsInsert,
  sqlite: isWritable,
};

async function hasInsertPrivilege(kysely: SqlDatabase['kysely'], { table }: SqlOptions): Promise<boolean> {
  const { rows } = await sql<{
    allowed: boolean;
  }>`select has_any_column_privilege(${table}, 'insert') as allowed`.execute(kysely);
  return rows[0]?.allowed === true;
}

/**
 * MariaDB hides rights that come through roles. Explaining an insert needs the same rights and does nothing; only a
 * user who may insert gets the error about a column without a default.
 */
async function explainsInsert(kysely: SqlDatabase['kysely'], options: SqlOptions): Promise<boolean> {
  const column = sql.ref(options.referenceColumn ?? Object.values(options.reads)[0]?.column ?? options.idColumn);
  const explained = sql`explain insert into ${sql.table(options.table)} (${column}) select null where 1 = 0`;
  await explained.execute(kysely).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'ER_NO_DEFAULT_FOR_FIELD') throw error;
  });
  return true;
}

async function isWritable(kysely: SqlDatabase['kysely']): Promise<boolean> {
  const { rows } = await sql<{ file: string }>`select file from pragma_database_list where name = 'main'`.execute(
    kysely,
  );
  const file = rows[0]?.file;
  if (!file) return true;
  return access(file, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Whether a new row gets an employee number, as far as the table shows: the column is the key, has a default, is
 * generated, or a trigger runs on insert. Assumed true for a view, and for MariaDB, which hides triggers from most
 * users.
 */
export async function givesNumber({ kysely, dialect }: SqlDatabase, options: SqlOptions): Promise<boolean> {
  const { table, idColumn, numberColumn, job } = options;
  if (dialect === 'mariadb' || job !== undefined || numberColumn === idColumn) return true;
  const { rows } = await QUERIES[dialect](table, numberColumn).execute(kysely);
  const [row] = rows;
  return row === undefined || Number(row.filled) === 1;
}

type Query = RawBuilder<{ filled: number | boolean }>;

const QUERIES: Record<Exclude<SqlDatabase['dialect'], 'mariadb'>, (table: string, column: string) => Query> = {
  postgres: (table, column) => {
    const quoted = quotedName(table);
    return sql`
      select case when a.atthasdef or a.attidentity <> '' or exists (
        select 1 from pg_trigger where tgrelid = c.oid and not tgisinternal and tgtype & 4 = 4
      ) then 1 else 0 end as filled
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.oid = to_regclass(${quoted}) and c.relkind in ('r', 'p') and a.attname = ${column}`;
  },
  sqlite: (table, column) => {
    const name = table.split('.').at(-1) ?? table;
    return sql`
      select case when x.dflt_value is not null or x.hidden <> 0 or x.pk = 1 or exists (
        select 1 from sqlite_master where type = 'trigger' and tbl_name = ${name} and lower(sql) like '% insert on %'
      ) then 1 else 0 end as filled
      from pragma_table_xinfo(${name}) x join sqlite_master m on m.type = 'table' and m.name = ${name}
      where x.name = ${column}`;
  },
};
