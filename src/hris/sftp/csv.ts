import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { ConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import type { Column } from '../columns.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { refuseFields } from '../records.ts';
import type { SftpOptions } from './options.ts';

export type Cells = Record<string, string | null>;

/** RFC 4180 with a header; every value is quoted, and null is an empty unquoted cell, as Postgres' COPY reads it. */
export function writeCsv(rows: readonly Cells[], delimiter: string): Buffer {
  const columns = Object.keys(rows[0] ?? {});
  const records = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return Buffer.from(
    stringify(records, {
      delimiter,
      record_delimiter: '\r\n',
      quoted: true,
      quoted_empty: false,
      cast: { string: mark },
    }),
  );
}

/** Quotes an empty text as well; only null stays unquoted. */
function mark(value: string): { value: string; quoted_empty: boolean } {
  return { value, quoted_empty: true };
}

/** In a short file with very many records, each record takes far more memory than its bytes. */
const MOST_RECORDS = 500_000;

export interface CsvFile {
  columns: string[];
  rows: Record<string, string>[];
}

/** `name` is for the error about an invalid file; its content is never quoted. */
export function readCsv(bytes: Uint8Array, { name, delimiter }: { name: string; delimiter: string }): CsvFile {
  let columns: string[] = [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const rows = parse<Record<string, string>>(text, {
      bom: true,
      delimiter,
      // A header written by one program may stand above records of another.
      record_delimiter: ['\r\n', '\n', '\r'],
      // A spreadsheet leaves rows of delimiters behind the last record.
      skip_records_with_empty_values: true,
      skip_empty_lines: true,
      columns: (header: string[]) => {
        columns = header.map((column) => column.trim());
        return columns;
      },
      on_record: (record: Record<string, string>, { records }: { records: number }) => {
        if (records > MOST_RECORDS) throw unreadable(name, 'it has more than 500,000 records');
        return record;
      },
    });
    if (new Set(columns).size < columns.length) throw unreadable(name, 'a column is in its header twice');
    return { columns, rows };
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw unreadable(name, error instanceof TypeError ? 'it is not UTF-8' : reasonOf(error));
  }
}

/** csv-parse quotes the text that it failed on, so report only its code and line. */
function reasonOf(error: unknown): string {
  const { code = 'unknown', lines } = error as { code?: string; lines?: number };
  return `${code.toLowerCase().replaceAll('_', ' ')}${lines === undefined ? '' : `, line ${lines}`}`;
}

export function unreadable(name: string, why: string): ConnectorError {
  return rejected(
    'HRIS_UNREADABLE_FILE',
    `The file ${name} cannot be read: ${why}. Correct it on the server, or take it and its .ready file away.`,
  );
}

/**
 * Fields as cells under the names of their columns. Refuses all values at once, by field, that no cell can hold or that
 * a spreadsheet would execute: escaping would change the value.
 */
export function toCells({ columns: known }: SftpOptions, fields: EmployeeFields): Cells {
  const problems: Record<string, string> = {};
  const cells: Cells = {};
  for (const [key, value] of Object.entries(fields)) {
    const column = Object.hasOwn(known, key) ? known[key]?.column : undefined;
    const text = toText(value);
    const problem = column === undefined ? 'is not a field of this HRIS' : problemOf(text);
    if (column === undefined || problem !== undefined) problems[key] = problem ?? '';
    else cells[column] = text;
  }
  if (Object.keys(problems).length > 0)
    throw refuseFields('INVALID_VALUE', 'A file of new hires cannot hold', problems);
  return cells;
}

/** A new employee needs every required field; a change must not empty one. */
export function refuseIncomplete({ columns: known }: SftpOptions, fields: EmployeeFields, isNew: boolean): void {
  const isMissing = ([key, { required }]: [string, Column]): boolean =>
    required && (Object.hasOwn(fields, key) ? toText(fields[key] ?? null) === null : isNew);
  const missing = Object.entries(known).filter(isMissing);
  const details = Object.fromEntries(missing.map(([key]) => [key, 'must not be empty']));
  if (missing.length > 0) throw refuseFields('MISSING_FIELD', 'This HRIS requires', details);
}

/** Our fields in a row; columns missing from the file are left out. */
export function fromCells({ columns: known }: SftpOptions, row: Record<string, string>): ReadFields {
  return readFields(
    Object.entries(known).flatMap(([key, { column, type }]): [string, ReadCell][] => {
      const text = row[column];
      return text === undefined ? [] : [[key, fromCell(type, text)]];
    }),
  );
}

/** A list is JSON, or its items are separated by bars. */
function fromCell(type: Column['type'], text: string): ReadCell {
  return readCell(type, type === 'list' && text !== '' && !text.startsWith('[') ? text.split('|') : text);
}

function toText(value: FieldValue): string | null {
  if (value === null || value === '') return null;
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/**
 * A formula that calls a function (`=HYPERLINK (`), a program (`=cmd|`) or another file (`='x'!A1`). Other texts that
 * begin with such a sign, as a phone number or a title behind a hyphen, are left alone, since a program reads the file.
 */
const RUNS = [
  /^=.*(?:\p{L}[\d._]*\s*\(|[|!])/su,
  /^[+\-@].*\p{L}[\d._]*\(/su,
  /^@.*\p{L}[\d._]*\s*\(/su,
  /^[+\-@](?:[^|]*\||[^\]]*\]).*!/su,
];

/**
 * A text as a spreadsheet may read it: full-width signs become plain ones, and leading invisible or blank characters
 * are dropped.
 */
function seen(text: string): string {
  return text.normalize('NFKC').replace(/^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]+/u, '');
}

/** Why a cell cannot hold a text; undefined if it can. */
export function problemOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text.includes('\0')) return 'holds a NUL character';
  if (!text.isWellFormed()) return 'holds half a character';
  if (RUNS.some((one) => one.test(seen(text)))) return 'is a formula that a spreadsheet would run';
  return undefined;
}
