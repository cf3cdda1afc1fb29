import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import { decimalValue } from '../values/transforms.ts';
import type { FieldDef } from './port.ts';

/** Fields as read. A field without a valid value is only in `unreadable`, with the code of the reason. */
export interface ReadFields {
  fields: EmployeeFields;
  unreadable?: Readonly<Record<string, string>>;
}

/** The value of one cell, or why it is not a value of its type. Nothing is rounded, cut or guessed. */
export type ReadCell = { value: FieldValue } | { wrong: string };

/** Longer texts are not exchanged; one would fill a page by itself. */
const MOST_CHARACTERS = 1_000_000;

/** Reads a cell as a value of its type from any driver's form: text, number, big integer, JSON or bytes. */
export function readCell(type: FieldDef['type'], cell: unknown): ReadCell {
  if (cell === null || cell === undefined || cell === '') return { value: null };
  try {
    return READ[type](cell);
  } catch {
    // For example JSON that is nested too deep.
    return { wrong: 'UNREADABLE' };
  }
}

/** Reads many fields; a bad value in one does not prevent reading the others. */
export function readFields(cells: Iterable<readonly [key: string, read: ReadCell]>): ReadFields {
  const fields: EmployeeFields = {};
  const unreadable: Record<string, string> = {};
  for (const [key, read] of cells)
    if ('wrong' in read) unreadable[key] = read.wrong;
    else fields[key] = read.value;
  return Object.keys(unreadable).length === 0 ? { fields } : { fields, unreadable };
}

/** A cell as text, in any driver's type. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined
    ? ''
    : JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item)).replaceAll(
        /^"|"$/g,
        '',
      );
}

const READ: Record<FieldDef['type'], (cell: unknown) => ReadCell> = {
  text: readText,
  number: readNumber,
  date: readDay,
  boolean: readTruth,
  list: readList,
};

function readText(cell: unknown): ReadCell {
  if (cell instanceof Uint8Array) return { wrong: 'NOT_A_TEXT' };
  const text = cellText(cell);
  // Drivers put the replacement character in place of bytes that are not text.
  if (!text.isWellFormed() || /[\0\ufffd]/.test(text)) return { wrong: 'BROKEN_TEXT' };
  return text.length > MOST_CHARACTERS ? { wrong: 'TOO_LONG' } : { value: text };
}

function readNumber(cell: unknown): ReadCell {
  if (typeof cell === 'string' && cell.trim() === '') return { value: null };
  const value = ['string', 'number', 'bigint'].includes(typeof cell) ? decimalValue(String(cell).trim()) : undefined;
  return value === undefined ? { wrong: 'NOT_A_NUMBER' } : { value };
}

/** A timestamp column holds more than the day. */
function readDay(cell: unknown): ReadCell {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$/s.exec(cellText(cell).trim()) ?? [];
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(-2));
  return isDay ? { value: day } : { wrong: 'NOT_A_DAY' };
}

/** A day, or its midnight. Another time may be a midnight elsewhere, and then it is of the day before. */
const DAY_ALONE = /^\S{10}([T ]00:00(:00(\.0+)?)?(Z|[+-][\d:]+)?)?$/;

/** Reads a day where nobody has said what a time beside it means. */
export function readDayAlone(cell: unknown): ReadCell {
  const read = readCell('date', cell);
  return 'wrong' in read || read.value === null || DAY_ALONE.test(cellText(cell).trim())
    ? read
    : { wrong: 'NOT_A_DAY' };
}

const TRUTHS: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  t: true,
  yes: true,
  0: false,
  false: false,
  f: false,
  no: false,
};

function readTruth(cell: unknown): ReadCell {
  // MariaDB returns a bit as a byte.
  const plain = cell instanceof Uint8Array && cell.length === 1 ? cell[0] : cell;
  const value = ['string', 'number', 'boolean', 'bigint'].includes(typeof plain)
    ? TRUTHS[String(plain).trim().toLowerCase()]
    : undefined;
  return value === undefined ? { wrong: 'NOT_TRUE_OR_FALSE' } : { value };
}

/** A list is stored as JSON text, or in a column with its own type. */
function readList(cell: unknown): ReadCell {
  const list: unknown = typeof cell === 'string' ? parsed(cell) : cell;
  if (list === null) return { value: null };
  if (!Array.isArray(list)) return { wrong: 'NOT_A_LIST' };
  const items = list.map((item) => (isPlain(item) ? readText(String(item)) : { wrong: 'NOT_A_LIST' }));
  const wrong = items.find((item) => 'wrong' in item);
  return wrong ?? { value: items.flatMap((item) => ('value' in item ? String(item.value) : [])) };
}

function isPlain(item: unknown): item is string | number | boolean | bigint {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof item);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
