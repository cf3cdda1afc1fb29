import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { EmployeeRef, FindKey, Found, NameParts } from '../../hire/hire.ts';
import { readCursor } from '../change-cursor.ts';
import type { ChangedEmployees, EmployeeNews, EmployeeRecord } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { foldText, foundBy, hasEnded } from '../records.ts';
import { asText, type Row, type SqlDatabase, type SqlHris, toFields, toRef } from './database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';

/** More hits than this count as "many" anyway. */
const ENOUGH = 200;

/** One record by id, from the table or view for reads. */
export async function readEmployee({ database, options }: SqlHris, id: string): Promise<EmployeeRecord | undefined> {
  // The database compares ids as text: an id in another HRIS's form is then absent instead of an error.
  const row = await database.kysely
    .selectFrom(options.readFrom)
    .select(employeeColumns(options))
    .where(sql<boolean>`${asText(database, options.idColumn)} = ${id}`)
    .executeTakeFirst();
  return row === undefined ? undefined : toRecord(row, options);
}

/** Converts a row to an employee, who is employed until the last day is over. */
function toRecord(row: Row, options: SqlOptions): EmployeeRecord {
  const reference = options.referenceColumn === undefined ? undefined : row[options.referenceColumn];
  const lastDay = options.endColumn === undefined ? undefined : cellText(row[options.endColumn]).slice(0, 10);
  return {
    ref: toRef(row, options),
    ...toFields(row, { columns: options.reads }),
    ...(typeof reference === 'string' ? { reference } : {}),
    ...(lastDay === undefined ? {} : { former: hasEnded(lastDay, options.today?.()) }),
  };
}

/** What a row's cell must be. */
type Condition = (column: string, database: SqlDatabase) => RawBuilder<boolean>;

interface Search {
  /** Columns to filter by; undefined if this HRIS has none, and then an empty result proves nothing. */
  where: ReadonlyArray<{ column: string | undefined; is: Condition }>;
  /** Whether an empty result proves absence. */
  trusted: boolean;
  /** Checks a hit again: filters differ in case, collation and padding. */
  fits: (row: Row) => boolean;
}

/** Finds an employee by one key in the rows we may read. A row that the customer's job refused is not an employee. */
export async function findEmployee(hris: SqlHris, key: FindKey): Promise<Found> {
  const search = searchFor(key, hris.options);
  const { rows, isComplete } = await readHits(hris, search);
  const refs = rows.filter((row) => !isRefused(row, hris.options)).map((row) => toRef(row, hris.options));
  return foundBy(key, refs, search.trusted && isComplete);
}

/** Whether a row has this value in a field; rows refused by the customer's job count, too. */
export async function isTaken({ database, options }: SqlHris, name: string, value: string): Promise<boolean> {
  const column = options.columns[name]?.column;
  if (column === undefined) throw new Error(`The connection was opened without a column for ${name}.`);
  const found = await database.kysely
    .selectFrom(options.readFrom)
    .select(options.idColumn)
    .where(inAnyCase(database, column, [value.toLowerCase(), value]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The row with this reference that the customer's job refused, read from the table itself. */
export async function findRefused(hris: SqlHris, reference: string): Promise<EmployeeRef | undefined> {
  const { rows } = await readHits(atTable(hris), searchFor({ by: 'reference', value: reference }, hris.options));
  const refused = rows.find((row) => isRefused(row, hris.options));
  return refused === undefined ? undefined : toRef(refused, hris.options);
}

/** Reads the table itself: a view or replica that lags is good for finding people, not for our own row's state. */
export function atTable({ database, options }: SqlHris): SqlHris {
  return { database, options: { ...options, readFrom: options.table } };
}

function isRefused(row: Row, { numberColumn, job }: SqlOptions): boolean {
  const { errorColumn } = job ?? {};
  return errorColumn !== undefined && cellText(row[numberColumn]) === '' && cellText(row[errorColumn]) !== '';
}

async function readHits({ database, options }: SqlHris, search: Search): Promise<{ rows: Row[]; isComplete: boolean }> {
  const conditions = search.where.flatMap(({ column, is }) => (column === undefined ? [] : [is(column, database)]));
  if (conditions.length < search.where.length) return { rows: [], isComplete: false };
  const rows = await database.kysely
    .selectFrom(options.readFrom)
    .select(employeeColumns(options))
    .where((eb) => eb.and(conditions))
    .limit(ENOUGH + 1)
    .execute();
  return { rows: rows.filter(search.fits), isComplete: rows.length <= ENOUGH };
}

function searchFor(key: FindKey, options: SqlOptions): Search {
  switch (key.by) {
    case 'reference':
      return exact(options.referenceColumn, key.value);
    case 'number':
      // A number may be a column of any type, which refuses other values or never equals a text.
      return exact(options.numberColumn, key.value, (column, on) => sql`${asText(on, column)} = ${key.value}`);
    case 'email':
      return byEmail(options.columns['email']?.column, key.value);
    case 'person':
      return byPerson(options, key);
    case 'name':
      return byName(options, key);
  }
}

function exact(
  column: string | undefined,
  value: string,
  is: Condition = (name) => sql`${sql.ref(name)} = ${value}`,
): Search {
  return {
    where: [{ column, is }],
    trusted: true,
    fits: (row) => column !== undefined && cellText(row[column]) === value,
  };
}

/** Ignores case and blanks around it, as far as the database does. */
function like(value: string): Condition {
  return (column, database) => inAnyCase(database, column, [folded(value), value]);
}

/**
 * Whether a column holds a text, whose first form is in small letters. In Turkish the small letter of I is ı, and an
 * address is still the one with an i. Postgres leaves out that part when it plans, if its language is another one.
 */
function inAnyCase(database: SqlDatabase, column: string, [small, value]: [string, string]): RawBuilder<boolean> {
  const cell = sql.ref(column);
  const plain =
    database.dialect === 'postgres'
      ? sql`lower('I') <> 'i' and lower(${asText(database, column)} collate "C")`
      : sql`lower(${asText(database, column)})`;
  return sql`(lower(${cell}) = ${small} or ${cell} in (${small}, ${value}) or ${plain} = ${small})`;
}

/**
 * In SQLite, and in Postgres with the C collation, `lower` handles only ASCII: with other characters an empty result
 * proves nothing.
 */
function byEmail(column: string | undefined, value: string): Search {
  const wanted = folded(value);
  return {
    where: [{ column, is: like(value) }],
    trusted: /^[ -~]*$/.test(wanted),
    fits: (row) => column !== undefined && folded(row[column]) === wanted,
  };
}

/** Filters by birth date and compares names here, so that no collation decides on identity. */
function byPerson(options: SqlOptions, key: Extract<FindKey, { by: 'person' }>): Search {
  // The column may hold a time, too.
  const next = new Date(Date.parse(key.birthDate) + 86_400_000).toISOString().slice(0, 10);
  const is: Condition = (column) => sql`(${sql.ref(column)} >= ${key.birthDate} and ${sql.ref(column)} < ${next})`;
  const where = [{ column: options.columns['birthDate']?.column, is }];
  return { where, trusted: true, fits: (row) => isNamed(options, row, key) };
}

/** A collation may not fold every character, so an empty result proves nothing. */
function byName(options: SqlOptions, key: Extract<FindKey, { by: 'name' }>): Search {
  const { givenName, familyName, birthDate } = options.columns;
  const { parts = { familyName: '', givenName: '' } } = key;
  const isUnknown = (row: Row): boolean =>
    key.birthDate === undefined || birthDate === undefined || cellText(row[birthDate.column]) === '';
  return {
    where: [
      { column: familyName?.column, is: like(parts.familyName) },
      { column: givenName?.column, is: like(parts.givenName) },
    ],
    trusted: false,
    fits: (row) => isUnknown(row) && isNamed(options, row, parts),
  };
}

function isNamed({ columns }: SqlOptions, row: Row, names: NameParts): boolean {
  const { givenName, familyName } = columns;
  return (
    givenName !== undefined &&
    familyName !== undefined &&
    folded(row[givenName.column]) === folded(names.givenName) &&
    folded(row[familyName.column]) === folded(names.familyName)
  );
}

function folded(value: unknown): string {
  return foldText(cellText(value));
}

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
