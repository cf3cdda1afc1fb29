import type { EmployeeFields, FieldValue } from '../../hire/employee.ts';
import type { Column } from '../columns.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { refuseFields } from '../refuse-fields.ts';
import type { Cells } from './csv.ts';
import type { SftpOptions } from './options.ts';

/**
 * Fields as cells, under the names of their columns. What no cell can hold is refused by field name, all of it at
 * once, and so is what a spreadsheet would run: escaping it would change the value.
 */
export function toCells({ columns: known }: SftpOptions, fields: EmployeeFields): Cells {
  const problems: Record<string, string> = {};
  const cells: Cells = {};
  for (const [key, value] of Object.entries(fields)) {
    const column = Object.hasOwn(known, key) ? known[key]?.column : undefined;
    const text = toText(value);
    const problem = column === undefined ? 'is no field of this HRIS' : problemOf(text);
    if (column === undefined || problem !== undefined) problems[key] = problem ?? '';
    else cells[column] = text;
  }
  if (Object.keys(problems).length > 0)
    throw refuseFields('INVALID_VALUE', 'A file of new hires cannot hold', problems);
  return cells;
}

/** Who is new must have every required field; a change must not empty one. */
export function refuseIncomplete({ columns: known }: SftpOptions, fields: EmployeeFields, isNew: boolean): void {
  const isMissing = ([key, { required }]: [string, Column]): boolean =>
    required && (Object.hasOwn(fields, key) ? toText(fields[key] ?? null) === null : isNew);
  const missing = Object.entries(known).filter(isMissing);
  const details = Object.fromEntries(missing.map(([key]) => [key, 'must not be empty']));
  if (missing.length > 0) throw refuseFields('MISSING_FIELD', 'This HRIS requires', details);
}

/** What a row holds of our fields; a column that is not in the file is left out. */
export function fromCells({ columns: known }: SftpOptions, row: Record<string, string>): ReadFields {
  return readFields(
    Object.entries(known).flatMap(([key, { column, type }]): [string, ReadCell][] => {
      const text = row[column];
      return text === undefined ? [] : [[key, fromCell(type, text)]];
    }),
  );
}

/** A list is JSON, or its items stand between bars. */
function fromCell(type: Column['type'], text: string): ReadCell {
  return readCell(type, type === 'list' && text !== '' && !text.startsWith('[') ? text.split('|') : text);
}

function toText(value: FieldValue): string | null {
  if (value === null || value === '') return null;
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/**
 * A formula that calls a function (`=HYPERLINK (`), a program (`=cmd|`) or another file (`='x'!A1`). The file is for a
 * program to read, so whatever else begins with such a sign is left as it is: a phone, a title behind a hyphen.
 */
const RUNS = [
  /^=.*(?:\p{L}[\d._]*\s*\(|[|!])/su,
  /^[+\-@].*\p{L}[\d._]*\(/su,
  /^@.*\p{L}[\d._]*\s*\(/su,
  /^[+\-@](?:[^|]*\||[^\]]*\]).*!/su,
];

/**
 * A text as whoever evaluates it may see it: full-width signs are the plain ones, and what nobody sees or what is blank
 * does not stand in front.
 */
function seen(text: string): string {
  return text.normalize('NFKC').replace(/^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]+/u, '');
}

/** Why no cell can hold a text. */
export function problemOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text.includes('\0')) return 'holds a zero character';
  if (!text.isWellFormed()) return 'holds half a character';
  if (RUNS.some((one) => one.test(seen(text)))) return 'is a formula that a spreadsheet would run';
  return undefined;
}
