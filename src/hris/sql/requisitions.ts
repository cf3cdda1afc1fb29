import { sql } from 'kysely';
import { ConnectorError } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { Amendment } from '../fields-to-amend.ts';
import type { ListEntry, ListedResume, Requisition, WriteOptions } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { amendRow } from './amend-row.ts';
import { asText, type Row, type SqlDatabase } from './database.ts';
import type { SqlOptions } from './options.ts';
import type { RequisitionTable, ResumeSource } from './requisition-options.ts';
import { tooLate, updateRow } from './update-row.ts';
import { toColumns, toFields } from './values.ts';

/** Every row of the requisitions table, ordered by id. */
export async function listRequisitions(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  table: RequisitionTable,
): Promise<Requisition[]> {
  const { rows } = await sql<Row>`${selectFrom(table)} order by ${sql.ref(table.idColumn)}`.execute(kysely);
  return rows.map((row) => toRequisition(row, table));
}

/** The rows with these ids. */
export async function readRequisitions(
  { kysely, dialect }: SqlDatabase,
  table: RequisitionTable,
  ids: readonly string[],
): Promise<Requisition[]> {
  if (ids.length === 0) return [];
  const isAmong = sql`${asText({ dialect }, table.idColumn)} in (${sql.join(ids)})`;
  const { rows } = await sql<Row>`${selectFrom(table)} where ${isAmong}`.execute(kysely);
  return rows.map((row) => toRequisition(row, table));
}

/** Every entry of a list that is not retired, ordered by id. */
export async function readList(
  database: SqlDatabase,
  list: string,
  lists: NonNullable<SqlOptions['lists']>,
): Promise<ListEntry[]> {
  const of = lists[list];
  if (of === undefined) throw new Error(`The connection was opened without the list ${list}.`);
  const { table, idColumn, labelColumn, activeColumn } = of;
  const isActive = activeColumn === undefined ? sql`` : sql` where ${isTrue(database, activeColumn)}`;
  const { rows } = await sql<Row>`select ${sql.ref(idColumn)} as id, ${sql.ref(labelColumn)} as label
    from ${sql.table(table)}${isActive} order by ${sql.ref(idColumn)}`.execute(database.kysely);
  return rows.map(({ id, label }) => ({ id: cellText(id), label: cellText(label ?? '') }));
}

/** Every file in the table, ordered by id. */
export async function listResumes(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  { table, idColumn, jobColumn, urlColumn }: ResumeSource,
): Promise<ListedResume[]> {
  const { rows } = await sql<Row>`select ${sql.ref(idColumn)} as id, ${sql.ref(jobColumn)} as job,
    ${sql.ref(urlColumn)} as url from ${sql.table(table)} order by ${sql.ref(idColumn)}`.execute(kysely);
  return rows.map(({ id, job, url }) => ({ id: cellText(id), jobId: cellText(job ?? ''), url: cellText(url ?? '') }));
}

/** True for a boolean in each dialect, and for a number other than 0. */
function isTrue(database: SqlDatabase, column: string) {
  return sql`lower(${asText(database, column)}) not in ('false', '0', 'f', '')`;
}

/** One update of the given fields. */
export async function updateRequisition(
  database: SqlDatabase,
  table: RequisitionTable,
  { id, fields }: { id: string; fields: EmployeeFields },
  write: WriteOptions,
): Promise<void> {
  if (await updateRow(database, table, { id, pairs: toColumns(fields, table) }, write)) return;
  const found = await readRequisitions(database, table, [id]);
  throw found.length > 0 ? tooLate() : notOpen(id);
}

/** Writes over the values that this was decided from. @throws ConnectorError STALE */
export async function amendRequisition(
  database: SqlDatabase,
  table: RequisitionTable,
  amendment: Omit<Amendment, 'from'> & { id: string },
  write: WriteOptions,
): Promise<void> {
  if (!(await amendRow(database, table, amendment, write))) throw notOpen(amendment.id);
}

function notOpen(id: string): ConnectorError {
  return new ConnectorError({
    code: 'REQUISITION_NOT_FOUND',
    action: 'reject',
    message: `The HRIS has no open requisition with the id ${id}.`,
  });
}

function selectFrom(table: RequisitionTable) {
  const fields = Object.values(table.columns).map(({ column }) => column);
  const columns = sql.join([...new Set([table.idColumn, ...fields])].map((name) => sql.ref(name)));
  return sql`select ${columns} from ${sql.table(table.table)}`;
}

function toRequisition(row: Row, table: RequisitionTable): Requisition {
  return { id: cellText(row[table.idColumn]), ...toFields(row, table) };
}
