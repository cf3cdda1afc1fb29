import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { readCursor } from '../change-cursor.ts';
import type { ChangedEmployees, EmployeeNews } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { asText, type Row, type SqlDatabase, type SqlHris } from './database.ts';
import { toRecord } from './find.ts';
import { employeeColumns, type SqlOptions } from './options.ts';

/** Employees per page. */
const PAGE = 200;

/** A position in the order of (change column, id): all rows up to it have been read. */
const place = z.object({ at: z.union([z.string(), z.number()]), id: z.string() });
type Place = z.output<typeof place>;

/**
 * Times and sequence numbers are taken before they are committed, so continuing from the last row read could miss a row
 * with an earlier value. Each pass begins at a position that had been the end for at least the overlap, by the
 * database's clock; that works for any column that only grows, whatever its type or time zone.
 */
const cursor = z.object({
  /** Nothing new can appear before it; absent: nothing is certain yet. */
  settled: place.optional(),
  /** The end that an earlier pass found, and when. */
  end: place.extend({ seenAt: z.number() }).optional(),
  /** Within a pass: how far it came, and when it began. */
  pass: place.extend({ beganAt: z.number() }).optional(),
});
type Cursor = z.output<typeof cursor>;

/** One page of changed employees. */
export async function changedEmployees(
  { database, options }: SqlHris,
  { column, overlap }: { column: string; overlap: number },
  given: string | undefined,
): Promise<ChangedEmployees> {
  const before = readCursor(cursor, given);
  const beganAt = before.pass?.beganAt ?? (await readClock(database));
  const columns = employeeColumns(options);
  const after = before.pass ?? before.settled;
  const rows = await readRows({ database, options }, column, { columns, most: PAGE + 1, after });
  const page = rows.slice(0, PAGE);
  const last = page.at(-1);
  const reached = last === undefined ? before.pass : placeOf(last, column, options);
  const employees = page.map((row) => toRecord(row, options));
  if (rows.length > PAGE && reached !== undefined)
    return { employees, gone: [], next: JSON.stringify({ ...before, pass: { ...reached, beganAt } }), more: true };
  const times = { beganAt, overlap, now: await readClock(database) };
  return { employees, gone: [], next: JSON.stringify(afterPass(before, reached, times)), more: false };
}

/** How far the look before the latest came, how far the latest came, and what the latest found. */
const newsCursor = z.object({ from: place.optional(), end: place.optional(), found: z.array(z.string()) });

/**
 * Employees who changed since the latest look. A change with an earlier time that was committed between two looks is
 * found by the second, which begins where the look before the first ended; one committed later still is left to
 * `changedEmployees`.
 */
export async function employeeNews(
  { database, options }: SqlHris,
  column: string,
  given: string | undefined,
): Promise<EmployeeNews> {
  const columns = [column, options.idColumn];
  if (given === undefined) {
    const [last] = await readRows({ database, options }, column, { columns, most: 1, isLast: true });
    const end = last && placeOf(last, column, options);
    return { ids: [], next: JSON.stringify({ from: end, end, found: [] }) };
  }
  const before = readCursor(newsCursor, given);
  const rows = await readRows({ database, options }, column, { columns, most: PAGE, after: before.from });
  const places = rows.map((row) => placeOf(row, column, options));
  const end = places.at(-1) ?? before.end;
  const known = new Set(before.found);
  const ids = places.filter((one) => !known.has(JSON.stringify(one))).map(({ id }) => id);
  // There is more than a page: the next look continues after it.
  const isFull = rows.length === PAGE;
  const found = isFull ? [] : places.map((one) => JSON.stringify(one));
  return { ids: [...new Set(ids)], next: JSON.stringify({ from: isFull ? end : before.end, end, found }) };
}

interface PassTimes {
  beganAt: number;
  now: number;
  overlap: number;
}

/** A pass that began at least the overlap after an end was seen has read all late commits before that end. */
function afterPass({ settled, end }: Cursor, reached: Place | undefined, times: PassTimes): Cursor {
  if (end !== undefined && times.beganAt < end.seenAt + times.overlap) return { settled, end };
  const from = end === undefined ? settled : { at: end.at, id: end.id };
  const isNew = reached !== undefined && (reached.at !== from?.at || reached.id !== from.id);
  return { settled: from, ...(isNew ? { end: { at: reached.at, id: reached.id, seenAt: times.now } } : {}) };
}

interface Reading {
  columns: readonly string[];
  most: number;
  after?: Place | undefined;
  /** Reads from the end backwards. */
  isLast?: boolean;
}

async function readRows(
  { database, options }: SqlHris,
  column: string,
  { columns, most, after, isLast = false }: Reading,
): Promise<Row[]> {
  const [at, id] = [sql.ref(column), asText(database, options.idColumn)];
  const order = sql.raw(isLast ? 'desc' : 'asc');
  // The first comparison can use an index; ids order equal times.
  const where =
    after === undefined
      ? sql<boolean>`${at} is not null`
      : sql<boolean>`${at} >= ${after.at} and (${at} > ${after.at} or ${id} > ${after.id})`;
  const { rows } = await sql<Row>`select ${sql.join(columns.map((name) => sql.ref(name)))}
    from ${sql.table(options.readFrom)} where ${where}
    order by ${at} ${order}, ${id} ${order} limit ${sql.lit(most)}`.execute(database.kysely);
  return rows;
}

function placeOf(row: Row, column: string, { idColumn }: SqlOptions): Place {
  const at = row[column];
  return { at: typeof at === 'number' ? at : cellText(at), id: cellText(row[idColumn]) };
}

async function readClock({ kysely, dialect }: SqlDatabase): Promise<number> {
  const clock: Record<SqlDatabase['dialect'], RawBuilder<unknown>> = {
    sqlite: sql`unixepoch('subsec') * 1000`,
    postgres: sql`extract(epoch from clock_timestamp()) * 1000`,
    mariadb: sql`unix_timestamp(sysdate(6)) * 1000`,
  };
  const { rows } = await sql<{ now: number | string }>`select ${clock[dialect]} as now`.execute(kysely);
  return Math.floor(Number(rows[0]?.now));
}
