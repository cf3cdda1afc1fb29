import { type RawBuilder, sql } from 'kysely';
import type { SqlDatabase, SqlHris } from './database.ts';
import { explainSqlError } from './sql-errors.ts';

type Emptied = [column: string, value: RawBuilder<unknown>];

/**
 * The columns that an earlier create may have filled and the corrected one leaves out, each with the value of a row
 * that was inserted without it. What this user may not update stays.
 */
export async function columnsToEmpty(
  { database, options }: SqlHris,
  pairs: readonly [column: string, value: unknown][],
): Promise<Emptied[]> {
  const { idColumn, numberColumn, referenceColumn, endColumn, changes, job } = options;
  const kept = new Set([idColumn, numberColumn, referenceColumn, endColumn, changes?.column, job?.errorColumn]);
  for (const [column] of pairs) kept.add(column);
  for (const { column, required } of Object.values(options.reads)) if (required) kept.add(column);
  const columns = new Set(Object.values(options.reads).map(({ column }) => column));
  const left = [...columns].filter((column) => !kept.has(column));
  if (left.length === 0) return [];
  return database.dialect === 'sqlite'
    ? sqliteDefaults(database, options.table, left)
    : updatable(database, options.table, left);
}

/** SQLite knows no rights, and no `default` as a value. */
async function sqliteDefaults({ kysely }: SqlDatabase, table: string, columns: readonly string[]): Promise<Emptied[]> {
  const name = table.split('.').at(-1) ?? table;
  const { rows } = await sql<{ name: string; dflt: string | null }>`
    select name, dflt_value as dflt from pragma_table_info(${name})`.execute(kysely);
  const wanted = rows.filter((row) => columns.includes(row.name));
  return wanted.map((row) => [row.name, sql.raw(`(${row.dflt ?? 'null'})`)]);
}

/** To explain an update needs the rights of the update and changes nothing. */
async function updatable({ kysely }: SqlDatabase, table: string, columns: readonly string[]): Promise<Emptied[]> {
  const emptied: Emptied[] = [];
  for (const column of columns) {
    const explained = sql`explain update ${sql.table(table)} set ${sql.ref(column)} = default where 1 = 0`;
    const failed = await explained.execute(kysely).then(
      () => undefined,
      (error: unknown) => explainSqlError(error, { sent: false }),
    );
    if (failed?.action === 'retry') throw failed;
    if (failed === undefined) emptied.push([column, sql`default`]);
  }
  return emptied;
}
