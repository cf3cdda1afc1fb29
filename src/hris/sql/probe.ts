import { access, constants } from 'node:fs/promises';
import { sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import type { SqlDatabase } from './database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';

/** Checks that table, view and columns are there and that we may insert. Reads no row and writes nothing. */
export async function probeEmployees({ kysely, dialect }: SqlDatabase, options: SqlOptions): Promise<void> {
  const columns = employeeColumns(options);
  for (const table of new Set([options.table, options.readFrom])) await probeColumns(kysely, table, columns);
  if (options.requisitions !== undefined) {
    const { table, idColumn, columns: fields } = options.requisitions;
    await probeColumns(kysely, table, [idColumn, ...Object.values(fields).map(({ column }) => column)]);
  }
  const allowed = dialect === 'postgres' ? await mayInsert(kysely, options.table) : await isWritable(kysely);
  if (!allowed)
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

async function mayInsert(kysely: SqlDatabase['kysely'], table: string): Promise<boolean> {
  const { rows } = await sql<{
    allowed: boolean;
  }>`select has_any_column_privilege(${table}, 'insert') as allowed`.execute(kysely);
  return rows[0]?.allowed === true;
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
