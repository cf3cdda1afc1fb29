import { sql } from 'kysely';
import { type ConnectorError, rejected } from '../../errors.ts';
import type { HrisConnection, ListEntry, ListedResume, Requisition } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { asText, type Reach, type Row, type SqlDatabase, toColumns, toFields } from './database.ts';
import type { RequisitionTable, ResumeSource, SqlOptions } from './options.ts';
import { amendRow, tooLate, updateRow } from './write-rows.ts';

/** Open positions and files that become candidates, each if the options name its table. */
export function requisitionsOf(
  { requisitions: table, resumes }: SqlOptions,
  reach: Reach,
): Pick<HrisConnection, 'requisitions' | 'resumes'> {
  return {
    ...(table && {
      requisitions: {
        listOpen: (signal) => reach(signal, (database) => listRequisitions(database, table)),
        read: (ids, signal) => reach(signal, (database) => readRequisitions(database, table, ids)),
        update: async (id, fields, write) => {
          const database = await reach(write.signal, async (open) => open);
          if (await updateRow(database, table, { id, pairs: toColumns(fields, table) }, write)) return;
          const found = await readRequisitions(database, table, [id]);
          throw found.length > 0 ? tooLate() : notOpen(id);
        },
        amend: async (id, amendment, write) => {
          const database = await reach(write.signal, async (open) => open);
          if (!(await amendRow(database, table, { id, ...amendment }, write))) throw notOpen(id);
        },
      },
    }),
    ...(resumes && { resumes: { list: (signal) => reach(signal, (database) => listResumes(database, resumes)) } }),
  };
}

/** Tables with the entries for select fields of the partner. */
export function listsOf({ lists }: SqlOptions, reach: Reach): Pick<HrisConnection, 'lists'> {
  return lists === undefined
    ? {}
    : { lists: { read: (list, signal) => reach(signal, (database) => readList(database, list, lists)) } };
}

/** Every row of the requisitions table, ordered by id. */
async function listRequisitions(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  table: RequisitionTable,
): Promise<Requisition[]> {
  const { rows } = await sql<Row>`${selectFrom(table)} order by ${sql.ref(table.idColumn)}`.execute(kysely);
  return rows.map((row) => toRequisition(row, table));
}

/** The rows with these ids. */
async function readRequisitions(
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
async function readList(
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
async function listResumes(
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

function notOpen(id: string): ConnectorError {
  return rejected('REQUISITION_NOT_FOUND', `The HRIS has no open requisition with the id ${id}.`);
}

function selectFrom(table: RequisitionTable) {
  const fields = Object.values(table.columns).map(({ column }) => column);
  const columns = sql.join([...new Set([table.idColumn, ...fields])].map((name) => sql.ref(name)));
  return sql`select ${columns} from ${sql.table(table.table)}`;
}

function toRequisition(row: Row, table: RequisitionTable): Requisition {
  return { id: cellText(row[table.idColumn]), ...toFields(row, table) };
}
