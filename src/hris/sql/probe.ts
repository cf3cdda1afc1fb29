import { access, constants } from 'node:fs/promises';
import { sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import type { SqlDatabase } from './database.ts';
import type { SqlOptions } from './options.ts';

/** Checks that table, view and columns are there and that we may insert. Reads no row and writes nothing. */
export async function probeEmployees({ kysely, dialect }: SqlDatabase, options: SqlOptions): Promise<void> {
  const columns = [
    options.idColumn,
    options.numberColumn,
    ...(options.referenceColumn === undefined ? [] : [options.referenceColumn]),
    ...Object.values(options.columns).map((column) => column.column),
  ];
  for (const table of new Set([options.table, options.readFrom])) {
    // Qualified, because SQLite takes an unknown quoted name for text.
    const list = sql.join(columns.map((column) => sql`t.${sql.ref(column)}`));
    await sql`select ${list} from ${sql.table(table)} as t where 1 = 0`.execute(kysely);
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
