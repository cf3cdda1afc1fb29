import { type Kysely, type RawBuilder, sql } from 'kysely';
import { ConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../hire/hire.ts';
import type { Column } from '../columns.ts';
import type { WriteOptions } from '../port.ts';
import { cellText, type ReadFields, readCell, readFields } from '../read-cell.ts';
import type { SqlOptions } from './options.ts';

export type Row = Record<string, unknown>;
/** The customer's tables are known only from the configuration. */
export type Tables = Record<string, Row>;

/** One statement that writes one row. */
export interface SqlWrite {
  table: string;
  /**
   * The statement, without `returning`. It must contain the condition `guard`, which is false once the write's time is
   * over by the database's own clock.
   */
  build(guard: RawBuilder<boolean>): RawBuilder<unknown>;
  /** Columns of the written row to return. */
  returned: readonly string[];
  /** For an insert: how to find its row if the database does not return it. */
  inserted?: { idColumn: string; reference?: { column: string; value: string } };
}

/**
 * One database through one of the drivers. Reads use `kysely`; a write is one statement, so it happens completely or
 * not at all.
 */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres' | 'mariadb';
  readonly kysely: Kysely<Tables>;
  /**
   * Runs one guarded statement and returns the rows it wrote. ConnectorError `unknown`: it was sent and no answer came;
   * `retry`: nothing happened.
   */
  write(one: SqlWrite, options: WriteOptions): Promise<Row[]>;
  /** Returns `work`; until it ends, the database does not count as idle. */
  whileUsed<T>(work: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** An open database and its options in the tenant file. */
export interface SqlHris {
  database: SqlDatabase;
  options: SqlOptions;
}

/** Runs work on the open database until the signal aborts; every failure is a ConnectorError. */
export type Reach = <T>(signal: AbortSignal, work: (database: SqlDatabase) => Promise<T>) => Promise<T>;

/** The whole statement, for databases that can return written rows. */
export function returning({ build, returned }: SqlWrite, guard: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`${build(guard)} returning ${sql.join(returned.map((column) => sql.ref(column)))}`;
}

/** A column as text, compared by its exact characters: keys are compared this way, whatever their type or collation. */
export function asText({ dialect }: Pick<SqlDatabase, 'dialect'>, column: string): RawBuilder<string> {
  return dialect === 'mariadb'
    ? sql<string>`cast(${sql.ref(column)} as char) collate utf8mb4_nopad_bin`
    : sql<string>`cast(${sql.ref(column)} as text)`;
}

/** Converts field values to column values; first refuses, by field name, values that no column can hold. */
export function toColumns(
  fields: EmployeeFields,
  options: { columns: Record<string, Column> },
): [column: string, value: unknown][] {
  assertHeld(fields, options);
  return Object.entries(fields).map(([key, value]) => [options.columns[key]?.column ?? key, cellOf(value)]);
}

/** A list is stored as JSON text. */
export function cellOf(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

/** @throws ConnectorError INVALID_VALUE, by the names of the fields that no column can hold */
export function assertHeld(fields: EmployeeFields, { columns }: { columns: Record<string, Column> }): void {
  const problems: Record<string, string> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (!Object.hasOwn(columns, key)) problems[key] = 'is not a field of this HRIS';
    // Postgres refuses a NUL character in text; in SQLite most readers would cut the text there.
    if (typeof value === 'string' && value.includes('\0')) problems[key] = 'holds a NUL character';
  }
  const names = Object.keys(problems);
  if (names.length === 0) return;
  throw rejected('INVALID_VALUE', `The HRIS does not accept: ${names.join(', ')}.`, { details: problems });
}

/** Converts a row's columns to field values; reports invalid values, and still reads the others. */
export function toFields(row: Row, options: { columns: Record<string, Column> }): ReadFields {
  return readFields(
    Object.entries(options.columns).map(([key, { column, type }]) => [key, readCell(type, row[column])]),
  );
}

export function toRef(row: Row, options: SqlOptions): EmployeeRef {
  const number = row[options.numberColumn];
  return {
    id: cellText(row[options.idColumn]),
    ...(number === null || number === undefined || number === '' ? {} : { number: cellText(number) }),
  };
}

/** Names a field instead of its column in the details of a refusal. */
export function byField(error: ConnectorError, options: { columns: Record<string, Column> }): ConnectorError {
  if (!error.details) return error;
  const names = new Map(Object.entries(options.columns).map(([key, column]) => [column.column, key]));
  const details = Object.fromEntries(
    Object.entries(error.details).map(([column, text]) => [names.get(column) ?? column, text]),
  );
  return new ConnectorError({ code: error.code, action: error.action, message: error.message, details });
}

/** The answer, unless the signal aborts first: drivers cannot be stopped, so the caller drops the connection. */
export async function whileOpen<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  // An unhandled failure would end the process.
  answer.catch(() => undefined);
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export const WRITE_MS = 15_000;

/** Half of the time that a write has left: until its latest start, and again for the statement itself. */
export function halfOf({ remainingMs }: WriteOptions): number {
  const half = Math.floor(Math.min(remainingMs?.() ?? WRITE_MS, WRITE_MS) / 2);
  if (half >= 1) return half;
  throw new ConnectorError({
    code: 'DEADLINE_PASSED',
    action: 'retry',
    message: 'The deadline of this write passed before it was sent; nothing was written.',
  });
}

/** `schema.table` as Postgres reads a name from a text: `"schema"."table"`. */
export function quotedName(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}
