import { access, constants } from 'node:fs/promises';
import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, rejected } from '../../errors.ts';
import { nearest } from '../../in-words.ts';
import { quotedName, type SqlDatabase } from './database.ts';
import { describeTable, tableNames } from './describe.ts';
import { employeeColumns, type SqlOptions } from './options.ts';
import { grant } from './sql-errors.ts';

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
