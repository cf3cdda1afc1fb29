import { type RawBuilder, sql } from 'kysely';
import { type ConnectorError, rejected } from '../../errors.ts';
import { hasEscapeUnknownToPostgres, isAmong, selectJson, selectRows } from '../../sql/dialects.ts';
import type { IdsOptions, Landed, Landing, LandingRow, LandOptions, RemoveOptions, StoredRow } from '../port.ts';
import { cellText } from '../read-cell.ts';
import {
  assertHeld,
  asText,
  cellOf,
  explainSqlError,
  type Reach,
  type Row,
  type SqlDatabase,
  toFields,
} from './database.ts';
import { describeTable } from './describe.ts';
import { GONE_AT, landingKeys as key, type LandingTable, type SqlOptions } from './options.ts';

type Queried = Pick<SqlDatabase, 'kysely' | 'dialect'>;

/** What `landing` of the port promises. */
export function landingOf(options: SqlOptions, reach: Reach): Landing {
  async function reachTable<T>(
    stream: string,
    signal: AbortSignal,
    work: (database: SqlDatabase, table: LandingTable) => Promise<T>,
  ): Promise<T> {
    const table = landingTable(options, stream);
    return reach(signal, async (database) => {
      try {
        return await work(database, table);
      } catch (error) {
        throw explainLandingError(error, table);
      }
    });
  }
  return {
    land: (stream, rows, { signal, ...how }) =>
      reachTable(stream, signal, (database, table) => landRows(database, table, rows, how)),
    read: (stream, ids, { signal, tenant }) =>
      reachTable(stream, signal, (database, table) => readRows(database, table, tenant, ids)),
    hashes: (stream, ids, { signal, tenant }) =>
      reachTable(stream, signal, (database, table) => readHashes(database, table, tenant, ids)),
    ids: (stream, { signal, ...which }) =>
      reachTable(stream, signal, (database, table) => readIds(database, table, which)),
    marks: (stream, { signal }) => reachTable(stream, signal, hasMarks),
    remove: (stream, ids, { signal, ...how }) =>
      reachTable(stream, signal, (database, table) => removeRows(database, table, ids, how)),
  };
}

export function landingTable({ landing }: SqlOptions, stream: string): LandingTable {
  const table = landing[stream];
  if (table === undefined) throw new Error(`The connection was opened without a landing table for ${stream}.`);
  return table;
}

/**
 * Faults of the landing table itself: they end the stream's run, but do not affect the tenant's hires, which use
 * another table.
 */
const OF_THE_TABLE: ReadonlySet<string> = new Set(['HRIS_FORBIDDEN', 'HRIS_MISCONFIGURED']);

/** Like `explainSqlError`, for a landing table. */
function explainLandingError(error: unknown, { table, columns }: LandingTable): ConnectorError {
  const known = explainSqlError(error, { sent: false });
  if (!OF_THE_TABLE.has(known.code)) return known;
  const [, source = 'no code', next = ''] = /\(([^()]*)\)\.(.*)$/.exec(known.message) ?? [];
  const needed = [...Object.values(key), ...Object.values(columns).map(({ column }) => column)].join(', ');
  const why =
    known.code === 'HRIS_FORBIDDEN'
      ? 'may not be read and written by this user. Grant select, insert and update on it'
      : `does not exist, or lacks a column or its unique key. It needs the columns ${needed}, unique on ` +
        `(${key.tenant}, ${key.id}); set another name or other columns in hris.landing`;
  return rejected('LANDING_UNUSABLE', `The landing table ${table} of the HRIS database ${why} (${source}).${next}`, {
    cause: known,
  });
}

/**
 * Lands one page: one query compares hashes, and one statement writes the rows that differ; if `beforeWrite` is given,
 * one more query reads the rows they replace. Needs neither intent nor deadline, because landing a page twice is
 * harmless. Writes every column, so that a removed value is cleared.
 */
export async function landRows(
  { kysely, dialect }: SqlDatabase,
  table: LandingTable,
  rows: readonly LandingRow[],
  { tenant, force = false, beforeWrite }: Omit<LandOptions, 'signal'>,
): Promise<Landed> {
  if (rows.length === 0) return { unchanged: 0, created: 0, updated: 0 };
  const ids = rows.map((row) => row.id);
  const stored = await readHashes({ kysely, dialect }, table, tenant, ids);
  const changed = rows.filter((row) => force || stored.get(row.id) !== row.hash);
  if (changed.length > 0 && beforeWrite !== undefined) {
    const known = changed.filter((row) => stored.has(row.id)).map((row) => row.id);
    const before = new Map((await readRows({ kysely, dialect }, table, tenant, known)).map((row) => [row.id, row]));
    await beforeWrite(changed.map((row) => ({ row, before: before.get(row.id) })));
  }
  // Unmark first: if the write then fails, the row is written again, but one that has its hash would stay marked.
  const marked = changed.filter((row) => stored.get(row.id) === '').map((row) => row.id);
  await unmarkRows({ kysely }, table, marked, tenant);
  if (changed.length > 0) await upsert({ kysely, dialect }, table, tenant, changed);
  const created = changed.filter((row) => !stored.has(row.id)).length;
  return { unchanged: rows.length - changed.length, created, updated: changed.length - created };
}

/** The rows under these ids, in the form that reads return. */
async function readRows(
  { kysely, dialect }: Queried,
  table: LandingTable,
  tenant: string,
  ids: readonly string[],
): Promise<StoredRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Row>`select * from ${sql.table(table.table)}
    where ${sql.ref(key.tenant)} = ${tenant} and ${hasId(dialect, ids)}`.execute(kysely);
  return rows.map((row) => ({
    id: cellText(row[key.id]),
    hash: cellText(row[key.hash]),
    fields: toFields(row, table).fields,
  }));
}

async function readHashes(
  { kysely, dialect }: Queried,
  table: LandingTable,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows: stored } = await sql<{ id: string; hash: string }>`
    select ${sql.ref(key.id)} as id, ${sql.ref(key.hash)} as hash from ${sql.table(table.table)}
    where ${sql.ref(key.tenant)} = ${tenant} and ${hasId(dialect, ids)}`.execute(kysely);
  return new Map(stored.map((row) => [row.id, row.hash]));
}

function hasId(dialect: SqlDatabase['dialect'], ids: readonly string[]): RawBuilder<boolean> {
  return dialect === 'mariadb' ? sql<boolean>`${sql.ref(key.id)} in (${sql.join(ids)})` : isAmong(dialect, key.id, ids);
}

async function upsert(
  { kysely, dialect }: Queried,
  table: LandingTable,
  tenant: string,
  rows: readonly LandingRow[],
): Promise<void> {
  const fields = Object.entries(table.columns).map(([name, { column }]) => [name, column] as const);
  const written = [...fields.map(([, column]) => column), key.hash];
  const columns = [key.tenant, key.id, ...written];
  const cells = rows.map((row) => {
    assertHeld(row.fields, table);
    const own: Row = { [key.tenant]: tenant, [key.id]: row.id, [key.hash]: row.hash };
    for (const [name, column] of fields) own[column] = row.fields[name] ?? null;
    return own;
  });
  const given = ROWS[dialect](table.table, columns, cells);
  await sql`insert into ${sql.table(table.table)} (${sql.join(columns.map((column) => sql.ref(column)))}) ${given}
    ${overwriting(dialect, written)}, ${sql.ref(key.at)} = current_timestamp`.execute(kysely);
}

type SelectRows = (table: string, columns: readonly string[], rows: readonly Row[]) => RawBuilder<unknown>;

const ROWS: Record<SqlDatabase['dialect'], SelectRows> = {
  mariadb: (_table, columns, rows) => valuesOf(columns, rows),
  sqlite: (table, columns, rows) => selectRows('sqlite', table, columns, rows),
  postgres: (table, columns, rows) => selectJson('postgres', table, columns, rowsAsJson(rows)),
};

/**
 * In a JSON column Postgres would store a text that contains JSON as one JSON string. Passed as JSON, it becomes a
 * value there, and stays the same text in a text column. Rows without such a text are serialised at once.
 */
function rowsAsJson(rows: readonly Row[]): string {
  return rows.some(hasJsonText) ? `[${rows.map(rowAsJson).join()}]` : JSON.stringify(rows);
}

function hasJsonText(row: Row): boolean {
  for (const name in row) if (isJsonText(row[name])) return true;
  return false;
}

function rowAsJson(row: Row): string {
  const cells = Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}:${cellAsJson(value)}`);
  return `{${cells.join()}}`;
}

function cellAsJson(value: unknown): string {
  return isJsonText(value) ? value : JSON.stringify(value);
}

/** Whether it is an object or a list; a number in a text stays text. Blanks around JSON would be lost. */
function isJsonText(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[[{]/.test(text) || text !== text.trim() || hasEscapeUnknownToPostgres(text))
    return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function valuesOf(columns: readonly string[], rows: readonly Row[]): RawBuilder<unknown> {
  return sql`values ${sql.join(rows.map((row) => sql`(${sql.join(columns.map((column) => cellOf(row[column])))})`))}`;
}

function overwriting(dialect: SqlDatabase['dialect'], columns: readonly string[]): RawBuilder<unknown> {
  const set = (given: (column: RawBuilder<unknown>) => RawBuilder<unknown>) =>
    sql.join(columns.map((column) => sql`${sql.ref(column)} = ${given(sql.ref(column))}`));
  return dialect === 'mariadb'
    ? sql`on duplicate key update ${set((column) => sql`values(${column})`)}`
    : sql`on conflict (${sql.ref(key.tenant)}, ${sql.ref(key.id)}) do update
        set ${set((column) => sql`excluded.${column}`)}`;
}

/** Ids in one statement. */
const MOST_IDS = 500;

/** Whether rows can be marked as gone: a customer's table may be older than that column. */
async function hasMarks(database: SqlDatabase, { table }: LandingTable): Promise<boolean> {
  return (await describeTable(database, table, {})).some(({ label }) => label === GONE_AT);
}

/** Ids of a tenant's rows; a row marked as gone has no hash. */
async function readIds(
  { kysely, dialect }: Pick<SqlDatabase, 'kysely' | 'dialect'>,
  { table, columns }: LandingTable,
  { tenant, after, most, withGone = false, naming }: Omit<IdsOptions, 'signal'>,
): Promise<string[]> {
  const isBehind = after === undefined ? sql`` : sql`and ${sql.ref(key.id)} > ${after}`;
  const isThere = withGone ? sql`` : sql`and ${sql.ref(key.hash)} <> ''`;
  const { rows } = await sql<{ id: string }>`select ${sql.ref(key.id)} as id from ${sql.table(table)}
    where ${sql.ref(key.tenant)} = ${tenant} ${isThere} ${isBehind} ${doesName(dialect, columns, naming)}
    order by ${sql.ref(key.id)} limit ${sql.lit(most)}`.execute(kysely);
  return rows.map(({ id }) => id);
}

/** A column that is not text may show a value in another form, so every row might match then. */
function doesName(
  dialect: SqlDatabase['dialect'],
  columns: LandingTable['columns'],
  naming: IdsOptions['naming'],
): RawBuilder<unknown> {
  if (naming === undefined) return sql``;
  const named = naming.fields.flatMap((field) => columns[field] ?? []);
  if (named.some(({ type }) => type !== 'text')) return sql``;
  if (named.length === 0 || naming.values.length === 0) return sql`and 1 = 0`;
  const holds = named.map(({ column }) => sql`${asText({ dialect }, column)} in (${sql.join(naming.values)})`);
  return sql`and (${sql.join(holds, sql` or `)})`;
}

/** Removes the marks of rows that are back. */
async function unmarkRows(
  { kysely }: Pick<SqlDatabase, 'kysely'>,
  { table }: LandingTable,
  ids: readonly string[],
  tenant: string,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`update ${sql.table(table)} set ${sql.ref(GONE_AT)} = null
    where ${sql.ref(key.tenant)} = ${tenant} and ${sql.ref(key.id)} in (${sql.join(ids)})`.execute(kysely);
}

/** A marked row loses its hash, so that it is written again when its record is back. */
async function removeRows(
  { kysely }: SqlDatabase,
  { table }: LandingTable,
  ids: readonly string[],
  { tenant, mark }: Omit<RemoveOptions, 'signal'>,
): Promise<void> {
  const verb = mark
    ? sql`update ${sql.table(table)} set ${sql.ref(GONE_AT)} = current_timestamp, ${sql.ref(key.hash)} = ''`
    : sql`delete from ${sql.table(table)}`;
  for (let from = 0; from < ids.length; from += MOST_IDS) {
    const some = sql.join(ids.slice(from, from + MOST_IDS));
    await sql`${verb} where ${sql.ref(key.tenant)} = ${tenant} and ${sql.ref(key.id)} in (${some})`.execute(kysely);
  }
}
