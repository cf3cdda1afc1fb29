import { sql } from 'kysely';
import type { EmployeeRef, FindKey, Found, NameParts } from '../../hire/hire.ts';
import { foldText, foundBy } from '../fits-key.ts';
import { hasEnded } from '../has-ended.ts';
import type { EmployeeRecord } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { asText, type Row, type SqlHris } from './database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';
import { toFields, toRef } from './values.ts';

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
export function toRecord(row: Row, options: SqlOptions): EmployeeRecord {
  const reference = options.referenceColumn === undefined ? undefined : row[options.referenceColumn];
  const lastDay = options.endColumn === undefined ? undefined : cellText(row[options.endColumn]).slice(0, 10);
  return {
    ref: toRef(row, options),
    ...toFields(row, { columns: options.reads }),
    ...(typeof reference === 'string' ? { reference } : {}),
    ...(lastDay === undefined ? {} : { former: hasEnded(lastDay) }),
  };
}

interface Search {
  /** Columns to filter by; undefined if this HRIS has none, and then an empty result proves nothing. */
  where: ReadonlyArray<{
    column: string | undefined;
    value: string;
    /** The value before case folding, for a comparison that ignores case. */
    unfolded?: string;
  }>;
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
  const [cell, folded] = [sql.ref(column), value.toLowerCase()];
  const found = await database.kysely
    .selectFrom(options.readFrom)
    .select(options.idColumn)
    .where(sql<boolean>`(lower(${cell}) = ${folded} or ${cell} in (${value}, ${folded}))`)
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
  const conditions = search.where.flatMap(({ column, value, unfolded }) => {
    if (column === undefined) return [];
    const cell = sql.ref(column);
    if (unfolded === undefined) return [sql<boolean>`${cell} = ${value}`];
    return [sql<boolean>`(lower(${cell}) = ${value} or ${cell} in (${value}, ${unfolded}))`];
  });
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
      return exact(options.numberColumn, key.value);
    case 'email':
      return byEmail(options.columns['email']?.column, key.value);
    case 'person':
      return byPerson(options, key);
    case 'name':
      return byName(options, key);
  }
}

function exact(column: string | undefined, value: string): Search {
  return {
    where: [{ column, value }],
    trusted: true,
    fits: (row) => column !== undefined && cellText(row[column]) === value,
  };
}

/**
 * In SQLite, and in Postgres with the C collation, `lower` handles only ASCII: with other characters an empty result
 * proves nothing.
 */
function byEmail(column: string | undefined, value: string): Search {
  const wanted = folded(value);
  return {
    where: [{ column, value: wanted, unfolded: value }],
    trusted: /^[ -~]*$/.test(wanted),
    fits: (row) => column !== undefined && folded(row[column]) === wanted,
  };
}

/** Filters by birth date and compares names here, so that no collation decides on identity. */
function byPerson(options: SqlOptions, key: Extract<FindKey, { by: 'person' }>): Search {
  const where = [{ column: options.columns['birthDate']?.column, value: key.birthDate }];
  return { where, trusted: true, fits: (row) => isNamed(options, row, key) };
}

/** A collation may not fold every character, so an empty result proves nothing. */
function byName(options: SqlOptions, key: Extract<FindKey, { by: 'name' }>): Search {
  const { givenName, familyName, birthDate } = options.columns;
  const { parts = { familyName: '', givenName: '' } } = key;
  const like = (column: string | undefined, name: string) => ({ column, value: folded(name), unfolded: name });
  const isUnknown = (row: Row): boolean =>
    key.birthDate === undefined || birthDate === undefined || cellText(row[birthDate.column]) === '';
  return {
    where: [like(familyName?.column, parts.familyName), like(givenName?.column, parts.givenName)],
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
