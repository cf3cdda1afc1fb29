import { type RawBuilder, sql } from 'kysely';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../hire/hire.ts';
import type { Column } from '../option-types.ts';
import type {
  Amendment,
  CreateResult,
  Employees,
  HrisConnection,
  ListEntry,
  ListedResume,
  Requisition,
  WriteOptions,
} from '../port.ts';
import { cellText, readCell, readFields } from '../read-cell.ts';
import { alreadyExists, fieldsToAmend, withoutValues } from '../records.ts';
import {
  asText,
  explainSqlError,
  type Reach,
  type Row,
  type SqlDatabase,
  type SqlHris,
  toColumns,
  toFields,
  toRef,
} from './database.ts';
import type { RequisitionTable, ResumeSource, SqlOptions } from './options.ts';
import { atTable, findEmployee, findRefused, readEmployee } from './read-employees.ts';

/** Writes run outside `reach`: a driver knows better than a signal whether a write was sent. */
export function writesOf(options: SqlOptions, reach: Reach): Omit<Employees, 'find' | 'read' | 'isTaken'> {
  const { endColumn } = options;
  const open = async ({ signal }: WriteOptions): Promise<SqlHris> => ({
    database: await reach(signal, async (database) => database),
    options,
  });
  return {
    create: async (fields, reference, write) => createEmployee(await open(write), fields, reference, write),
    update: async (id, fields, write) => writeColumns(await open(write), id, toColumns(fields, options), write),
    amend: async (id, { fields, over }, write) => {
      const { database } = await open(write);
      if (!(await amendRow(database, options, { id, fields, over }, write))) throw notFound(id);
    },
    ...(endColumn !== undefined && {
      rehire: async (id, fields, write) =>
        writeColumns(await open(write), id, [...toColumns(fields, options), [endColumn, null]], write),
      terminate: async (id, lastDay, write) => writeColumns(await open(write), id, [[endColumn, lastDay]], write),
    }),
  };
}

/** One insert. ALREADY_EXISTS (ignore, details: the ref) if the reference is taken. */
async function createEmployee(
  hris: SqlHris,
  fields: EmployeeFields,
  reference: string,
  write: WriteOptions,
): Promise<CreateResult> {
  const { database, options } = hris;
  const corrected = toColumns(fields, options);
  const pairs = [...corrected];
  if (options.referenceColumn !== undefined) pairs.push([options.referenceColumn, reference]);
  const columns = sql.join(pairs.map(([column]) => sql.ref(column)));
  const values = sql.join(pairs.map(([, value]) => value));
  const { table, idColumn, numberColumn, referenceColumn } = options;
  const known = referenceColumn === undefined ? {} : { reference: { column: referenceColumn, value: reference } };
  try {
    const [row] = await database.write(
      {
        table,
        build: (guard) => sql`insert into ${sql.table(table)} (${columns}) select ${values} where ${guard}`,
        returned: [idColumn, numberColumn],
        inserted: { idColumn, ...known },
      },
      write,
    );
    if (!row) throw tooLate();
    const ref = toRef(row, options);
    if (ref.id === '') throw unnamed(options);
    return createdOrPending(hris, ref);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    const ofReference =
      error.code === 'DUPLICATE_VALUE' &&
      options.referenceColumn !== undefined &&
      Object.keys(error.details ?? {}).includes(options.referenceColumn);
    if (!ofReference) throw byField(error, options);
    const again = await askAgain(hris, reference, corrected, write);
    if (again === undefined) throw await takenBy(hris, reference);
    return again;
  }
}

/** A trigger made the row, in the place of a view's or after the insert: only a search can tell its key. */
function unnamed({ table, idColumn }: SqlOptions): ConnectorError {
  return new ConnectorError({
    code: 'OUTCOME_UNKNOWN',
    action: 'unknown',
    message: `The insert into ${table} gave no ${idColumn}. The row is looked up before anything is written again.`,
  });
}

async function takenBy(hris: SqlHris, reference: string): Promise<ConnectorError> {
  const found = await findEmployee(hris, { by: 'reference', value: reference }).catch(() => undefined);
  const ref = found?.kind === 'one' ? found.ref : undefined;
  return alreadyExists('The HRIS already has an employee with this reference.', ref);
}

async function writeColumns(
  hris: SqlHris,
  id: string,
  pairs: readonly [column: string, value: unknown][],
  write: WriteOptions,
): Promise<void> {
  if (await updateRow(hris.database, hris.options, { id, pairs }, write)) return;
  await assertThere(hris, id);
  throw tooLate();
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
export async function assertThere(hris: SqlHris, id: string): Promise<void> {
  if ((await readEmployee(hris, id)) === undefined) throw notFound(id);
}

function notFound(id: string): ConnectorError {
  return rejected('EMPLOYEE_NOT_FOUND', `The HRIS has no employee with the id ${id}.`);
}

/** How often the outcome of the customer's job is checked. */
const NEXT_CHECK_MS = 60_000;

/** If the tenant file names a job, a row without a number waits for it. */
function createdOrPending({ options }: SqlHris, ref: EmployeeRef): CreateResult {
  if (options.job === undefined || ref.number !== undefined) return { kind: 'created', ref };
  return { kind: 'pending', ticket: ref.id, nextCheckMs: NEXT_CHECK_MS };
}

/** The row's state after the job: numbered, refused, or still waiting. */
export async function resolvePending(hris: SqlHris, ticket: string): Promise<CreateResult> {
  const record = await readEmployee(atTable(hris), ticket);
  if (record?.ref.number !== undefined) return { kind: 'created', ref: record.ref };
  const said = record === undefined ? '' : await readRefusal(hris, ticket);
  if (said === '') return { kind: 'pending', ticket, nextCheckMs: NEXT_CHECK_MS };
  const shown = withoutValues(said, Object.values(record?.fields ?? {}));
  throw rejected(
    'HIRE_REJECTED',
    `The job in the HRIS database refused row ${ticket} of ${hris.options.table}. It said: ${shown}`,
    { said: shown },
  );
}

/**
 * A row that the job refused keeps its reference, so a corrected create overwrites it, and the job processes it again.
 * Undefined if no refused row has this reference.
 */
async function askAgain(
  hris: SqlHris,
  reference: string,
  pairs: readonly [column: string, value: unknown][],
  write: WriteOptions,
): Promise<CreateResult | undefined> {
  const { database, options } = hris;
  const { errorColumn } = options.job ?? {};
  const refused = errorColumn === undefined ? undefined : await findRefused(hris, reference);
  if (errorColumn === undefined || refused === undefined) return undefined;
  // Never overwrites a row that was numbered in the meantime.
  const number = asText(database, options.numberColumn);
  const where = sql`${sql.ref(errorColumn)} <> '' and coalesce(${number}, '') = ''`;
  const emptied = await columnsToEmpty(hris, pairs);
  const corrected: [column: string, value: unknown][] = [...pairs, ...emptied, [errorColumn, null]];
  try {
    const isWritten = await updateRow(database, options, { id: refused.id, pairs: corrected, where }, write);
    return isWritten ? { kind: 'pending', ticket: refused.id, nextCheckMs: NEXT_CHECK_MS } : undefined;
  } catch (error) {
    throw isConnectorError(error, 'HRIS_FORBIDDEN') ? mayNotCorrect(hris, refused.id, errorColumn) : error;
  }
}

/** Concerns this row only: other rows do not need the right. */
function mayNotCorrect({ options: { table } }: SqlHris, id: string, errorColumn: string): ConnectorError {
  return rejected(
    'REFUSED_ROW_KEPT',
    `The job refused row ${id} of ${table}, and this user may not correct it. Grant update on ${errorColumn} and ` +
      'on the columns of fields, or delete the row.',
  );
}

async function readRefusal({ database, options }: SqlHris, id: string): Promise<string> {
  const column = options.job?.errorColumn;
  if (column === undefined) return '';
  const row = await database.kysely
    .selectFrom(options.table)
    .select(column)
    .where(options.idColumn, '=', id)
    .executeTakeFirst();
  return cellText(row?.[column]);
}

type Emptied = [column: string, value: RawBuilder<unknown>];

/**
 * Columns that an earlier create may have filled and the corrected one leaves out, each with the value of a row
 * inserted without it. Columns that this user may not update stay.
 */
async function columnsToEmpty(
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

/** SQLite has no rights, and no `default` as a value. */
async function sqliteDefaults({ kysely }: SqlDatabase, table: string, columns: readonly string[]): Promise<Emptied[]> {
  const name = table.split('.').at(-1) ?? table;
  const { rows } = await sql<{ name: string; dflt: string | null }>`
    select name, dflt_value as dflt from pragma_table_info(${name})`.execute(kysely);
  const wanted = rows.filter((row) => columns.includes(row.name));
  return wanted.map((row) => [row.name, sql.raw(`(${row.dflt ?? 'null'})`)]);
}

/** Explaining an update needs the same rights and changes nothing. */
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
async function updateRow(
  database: SqlDatabase,
  of: KeyedTable,
  { id, pairs, where = sql`true` }: RowUpdate,
  write: WriteOptions,
): Promise<boolean> {
  if (pairs.length === 0) return true;
  const { table, idColumn } = of;
  const changes = sql.join(pairs.map(([column, value]) => sql`${sql.ref(column)} = ${value}`));
  // Databases take `01` for 1, and MariaDB `ab` for `Ab`: compared as text, too, another form is nobody's id.
  const isIt = sql`${sql.ref(idColumn)} = ${id} and ${asText(database, idColumn)} = ${id}`;
  const build = (guard: RawBuilder<boolean>) =>
    sql`update ${sql.table(table)} set ${changes} where ${isIt} and ${where} and ${guard}`;
  try {
    return (await database.write({ table, build, returned: [idColumn] }, write)).length > 0;
  } catch (error) {
    throw isConnectorError(error) ? byField(error, of) : error;
  }
}

/** For an existing row that was not written. */
function tooLate(): ConnectorError {
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
async function amendRow(
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

/** Names a field instead of its column in the details of a refusal. */
function byField(error: ConnectorError, options: { columns: Record<string, Column> }): ConnectorError {
  if (!error.details) return error;
  const names = new Map(Object.entries(options.columns).map(([key, column]) => [column.column, key]));
  const details = Object.fromEntries(
    Object.entries(error.details).map(([column, text]) => [names.get(column) ?? column, text]),
  );
  return new ConnectorError({ code: error.code, action: error.action, message: error.message, details });
}
