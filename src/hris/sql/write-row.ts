import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { Column } from '../columns.ts';
import type { Amendment, WriteOptions } from '../port.ts';
import { readCell, readFields } from '../read-cell.ts';
import { fieldsToAmend } from '../records.ts';
import { asText, byField, type Row, type SqlDatabase, toColumns } from './database.ts';

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

/**
 * Writes over the values that this was decided from, with a single update that names the values it replaces: it reads
 * the cells as text, compares them with the old values, and lets the database compare them again while writing. This
 * works for columns of every type. False if there is no such row.
 * @throws ConnectorError STALE
 */
export async function amendRow(
  database: SqlDatabase,
  of: KeyedTable,
  { id, ...amendment }: Omit<Amendment, 'from'> & { id: string },
  write: WriteOptions,
): Promise<boolean> {
  const held = await readCells(database, of, id, Object.keys(amendment.fields));
  if (held === undefined) return false;
  const left = fieldsToAmend(amendment, held);
  if (Object.keys(left).length === 0) return true;
  const where = sql.join(
    Object.keys(left).map((key) => isStill(database, of.columns[key]?.column ?? key, held.texts[key] ?? null)),
    sql` and `,
  );
  if (await updateRow(database, of, { id, pairs: toColumns(left, of), where }, write)) return true;
  const found = await readCells(database, of, id, Object.keys(amendment.fields));
  if (found === undefined) return false;
  fieldsToAmend(amendment, found);
  throw tooLate();
}

/** Some cells of one row from the table itself, even if reads otherwise use a view. */
async function readCells(database: SqlDatabase, of: KeyedTable, id: string, keys: readonly string[]) {
  const known = keys.flatMap((key, at) => {
    const column = of.columns[key];
    return column === undefined ? [] : [{ key, at, ...column }];
  });
  const cells = known.flatMap(({ at, column }) => [
    sql`${sql.ref(column)} as ${sql.ref(`cell${at}`)}`,
    sql`${asText(database, column)} as ${sql.ref(`text${at}`)}`,
  ]);
  const { rows } = await sql<Row>`select ${sql.join([sql`1 as one`, ...cells])} from ${sql.table(of.table)}
    where ${asText(database, of.idColumn)} = ${id}`.execute(database.kysely);
  const [row] = rows;
  if (row === undefined) return undefined;
  const read = readFields(known.map(({ key, at, type }) => [key, readCell(type, row[`cell${at}`])]));
  const texts = Object.fromEntries(known.map(({ key, at }) => [key, row[`text${at}`] as string | null]));
  return { ...read, texts };
}

function isStill(database: SqlDatabase, column: string, text: string | null): RawBuilder<boolean> {
  const cell = asText(database, column);
  return text === null ? sql<boolean>`${sql.ref(column)} is null` : sql<boolean>`${cell} = ${text}`;
}
