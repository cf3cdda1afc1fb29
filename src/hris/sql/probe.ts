import { access, constants } from 'node:fs/promises';
import { sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import type { SqlDatabase } from './database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';

/** Checks that table, view and columns are there and that we may insert. Reads no row and writes nothing. */
export async function probeEmployees(database: SqlDatabase, options: SqlOptions): Promise<void> {
  const { kysely } = database;
  const columns = employeeColumns(options);
  for (const table of new Set([options.table, options.readFrom])) await probeColumns(kysely, table, columns);
  if (options.requisitions !== undefined) {
    const { table, idColumn, columns: fields } = options.requisitions;
    await probeColumns(kysely, table, [idColumn, ...Object.values(fields).map(({ column }) => column)]);
  }
  if (!(await MAY_INSERT[database.dialect](kysely, options)))
    throw new ConnectorError({
      code: 'HRIS_FORBIDDEN',
      action: 'reauthorize',
      message:
        `This HRIS database user may not insert into ${options.table}. Grant it, or name the right user in ` +
        'hris.url.',
    });
}

async function probeColumns(kysely: SqlDatabase['kysely'], table: string, columns: readonly string[]): Promise<void> {
  const select = selectNothing(kysely, table);
  await select(columns).catch(async (error: unknown) => {
    throw (await missingColumns(select, table, columns)) ?? error;
  });
}

type SelectNothing = (columns: readonly string[]) => Promise<unknown>;

function selectNothing(kysely: SqlDatabase['kysely'], table: string): SelectNothing {
  return (columns) => {
    // Qualified, because SQLite takes an unknown quoted name for text.
    const list = sql.join(columns.map((column) => sql`t.${sql.ref(column)}`));
    return sql`select ${list} from ${sql.table(table)} as t where 1 = 0`.execute(kysely);
  };
}

/** Names the columns that are not there, asked one by one; undefined when that is not what is wrong. */
async function missingColumns(
  select: SelectNothing,
  table: string,
  columns: readonly string[],
): Promise<ConnectorError | undefined> {
  const missing: string[] = [];
  for (const column of columns) await select([column]).catch(() => missing.push(column));
  if (missing.length === 0 || missing.length === columns.length) return undefined;
  return new ConnectorError({
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    message:
      `The HRIS table ${table} has no column ${missing.join(', ')}, or this user may not read it. ` +
      "Add it there, or name the right one under hris.fields (or set the field to null in the tenant's mapping).",
    details: { columns: missing },
  });
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
 * MariaDB shows nobody the rights that come with roles. To explain an insert needs what the insert needs and does
 * nothing; a column that must be filled is missed only by who may insert.
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
