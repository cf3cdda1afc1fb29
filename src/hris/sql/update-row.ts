import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { Column } from '../columns.ts';
import type { WriteOptions } from '../port.ts';
import type { SqlDatabase } from './database.ts';
import { byField } from './values.ts';

/** A table with one key column. */
interface KeyedTable {
  table: string;
  idColumn: string;
  columns: Record<string, Column>;
}

/** The values to write to one row, and a condition on it. */
interface RowUpdate {
  id: string;
  pairs: readonly [column: string, value: unknown][];
  where?: RawBuilder<unknown>;
}

/** One update of one row; a refusal names fields instead of columns. False if no row was written. */
export async function updateRow(
  database: SqlDatabase,
  of: KeyedTable,
  { id, pairs, where = sql`true` }: RowUpdate,
  write: WriteOptions,
): Promise<boolean> {
  if (pairs.length === 0) return true;
  const { table, idColumn } = of;
  const changes = sql.join(pairs.map(([column, value]) => sql`${sql.ref(column)} = ${value}`));
  const build = (guard: RawBuilder<boolean>) =>
    sql`update ${sql.table(table)} set ${changes} where ${sql.ref(idColumn)} = ${id} and ${where} and ${guard}`;
  try {
    return (await database.write({ table, build, returned: [idColumn] }, write)).length > 0;
  } catch (error) {
    throw isConnectorError(error) ? byField(error, of) : error;
  }
}

/** For an existing row that was not written. */
export function tooLate(): ConnectorError {
  return new ConnectorError({
    code: 'DEADLINE_PASSED',
    action: 'retry',
    message: 'The write reached the HRIS database after its deadline; nothing was written.',
  });
}
