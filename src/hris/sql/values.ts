import { ConnectorError } from '../../errors.ts';
import type { EmployeeFields, EmployeeRef } from '../../hire/hire.ts';
import type { Column } from '../columns.ts';
import { cellText, type ReadFields, readCell, readFields } from '../read-cell.ts';
import type { Row } from './database.ts';
import type { SqlOptions } from './options.ts';

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
  throw new ConnectorError({
    code: 'INVALID_VALUE',
    action: 'reject',
    message: `The HRIS does not accept: ${names.join(', ')}.`,
    details: problems,
  });
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
