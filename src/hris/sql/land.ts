import { type RawBuilder, sql } from 'kysely';
import { hasEscapeUnknownToPostgres, isAmong, selectJson, selectRows } from '../../sql/rows-as-json.ts';
import type { Landed, LandingRow, LandOptions, StoredRow } from '../port.ts';
import { cellText } from '../read-cell.ts';
import type { Row, SqlDatabase } from './database.ts';
import { landingKeys as key, type LandingTable } from './landing-options.ts';
import { unmarkRows } from './remove.ts';
import { assertHeld, cellOf, toFields } from './values.ts';

type Reach = Pick<SqlDatabase, 'kysely' | 'dialect'>;

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
export async function readRows(
  { kysely, dialect }: Reach,
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

export async function readHashes(
  { kysely, dialect }: Reach,
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
  { kysely, dialect }: Reach,
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
