import { sql } from 'kysely';
import type { EmployeeRef, FindKey, Found, NameParts } from '../../hire/employee.ts';
import { foldText, foundBy } from '../fits-key.ts';
import { hasEnded } from '../has-ended.ts';
import type { EmployeeRecord } from '../port.ts';
import { cellText } from '../read-cell.ts';
import { asText, type Row, type SqlHris } from './database.ts';
import { employeeColumns, type SqlOptions } from './options.ts';
import { toFields, toRef } from './values.ts';

/** More hits than this are "many" all the same. */
const ENOUGH = 200;

/** One record by its id, as reads show it. */
export async function readEmployee({ database, options }: SqlHris, id: string): Promise<EmployeeRecord | undefined> {
  // Compared as text by the database itself: an id of another HRIS's form is then absent, not an error.
  const row = await database.kysely
    .selectFrom(options.readFrom)
    .select(employeeColumns(options))
    .where(sql<boolean>`${asText(database, options.idColumn)} = ${id}`)
    .executeTakeFirst();
  return row === undefined ? undefined : toRecord(row, options);
}

/** A row as the employee it holds. Whoever has a last day is employed until it is over. */
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
  /** Columns to filter by; undefined where this HRIS has none, and then nothing is proven. */
  where: ReadonlyArray<{
    column: string | undefined;
    value: string;
    /** As it was before its case was folded: compared without case. */
    unfolded?: string;
  }>;
  /** Whether an empty answer proves absence. */
  trusted: boolean;
  /** The hit, checked again: filters differ in case, collation and padding. */
  fits: (row: Row) => boolean;
}

/** Looks up by one key in what this HRIS lets us read. A row that the customer's job refused is nobody's. */
export async function findEmployee(hris: SqlHris, key: FindKey): Promise<Found> {
  const search = searchFor(key, hris.options);
  const { rows, isComplete } = await readHits(hris, search);
  const refs = rows.filter((row) => !isRefused(row, hris.options)).map((row) => toRef(row, hris.options));
  return foundBy(key, refs, search.trusted && isComplete);
}

/** Whether a row has this value in a field; rows that the customer's job refused count, too. */
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

/** The row of this reference that the customer's job refused, as the table itself has it. */
export async function findRefused(hris: SqlHris, reference: string): Promise<EmployeeRef | undefined> {
  const { rows } = await readHits(atTable(hris), searchFor({ by: 'reference', value: reference }, hris.options));
  const refused = rows.find((row) => isRefused(row, hris.options));
  return refused === undefined ? undefined : toRef(refused, hris.options);
}

/** A view or replica that lags is for finding people; how our own row stands is read where it was written. */
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
 * `lower` in SQLite, and in Postgres with the C collation, knows ASCII only: beyond it an empty answer proves nothing.
 */
function byEmail(column: string | undefined, value: string): Search {
  const wanted = folded(value);
  return {
    where: [{ column, value: wanted, unfolded: value }],
    trusted: /^[ -~]*$/.test(wanted),
    fits: (row) => column !== undefined && folded(row[column]) === wanted,
  };
}

/** Filters by the day, compares names here, so that no collation decides who is who. */
function byPerson(options: SqlOptions, key: Extract<FindKey, { by: 'person' }>): Search {
  const where = [{ column: options.columns['birthDate']?.column, value: key.birthDate }];
  return { where, trusted: true, fits: (row) => isNamed(options, row, key) };
}

/** What a collation does not fold is not found: nobody found proves nothing. */
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
