import countries from 'i18n-iso-countries';
import type { EmployeeFields, FieldValue } from '../../hire/hire.ts';
import { type ReadCell, type ReadFields, readCell, readFields } from '../read-cell.ts';
import { refuseFields } from '../refuse-fields.ts';
import { type BambooField, type BambooOptions, readName } from './options.ts';

/** Converts fields to BambooHR's form. Names every field that does not fit at once, without its value. */
export function toBamboo({ fields: known }: BambooOptions, fields: EmployeeFields): Record<string, unknown> {
  const problems: Record<string, string> = {};
  const written: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const field = known[key];
    const problem = problemOf(field, value);
    if (field === undefined || problem !== undefined) problems[key] = problem ?? 'is not a field of this HRIS';
    else written[field.name] = toText(field, value);
  }
  if (Object.keys(problems).length > 0) throw refuseFields('INVALID_VALUE', 'BambooHR does not accept', problems);
  return written;
}

/** A new employee needs every required field; an update must not empty one. */
export function assertComplete({ fields: known }: BambooOptions, fields: EmployeeFields, isNew: boolean): void {
  const missing = Object.entries(known).filter(
    ([key, { required }]) => required && (key in fields ? isEmpty(fields[key]) : isNew),
  );
  if (missing.length === 0) return;
  const details = Object.fromEntries(missing.map(([key]) => [key, 'must not be empty']));
  throw refuseFields('MISSING_FIELD', 'BambooHR requires', details);
}

/** The fields of an answer, under their names for reading; absent ones are empty or not visible to us. */
export function fromBamboo({ fields: known }: BambooOptions, read: Record<string, unknown>): ReadFields {
  return readFields(Object.entries(known).map(([key, field]) => [key, fromText(field, read[readName(field)])]));
}

function problemOf(field: BambooField | undefined, value: FieldValue): string | undefined {
  if (typeof value === 'string' && value.includes('\0')) return 'holds a NUL character';
  if (field?.type === 'date' && typeof value === 'string' && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return 'is not a date';
  if (field?.type === 'country' && typeof value === 'string' && countryName(value) === undefined)
    return 'is not an ISO 3166-1 country';
  return undefined;
}

function toText({ type }: BambooField, value: FieldValue): unknown {
  if (isEmpty(value)) return '';
  if (type === 'country') return countryName(String(value));
  if (type === 'boolean') return value === true ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(',') : value;
}

function fromText({ type }: BambooField, value: unknown): ReadCell {
  // An unset date is all zeros.
  if (value === '0000-00-00') return { value: null };
  if (type === 'list') return readCell(type, typeof value === 'string' && value !== '' ? value.split(',') : value);
  if (type !== 'country') return readCell(type, value);
  const name = readCell('text', value);
  return 'wrong' in name || name.value === null
    ? name
    : { value: countries.getAlpha2Code(String(name.value), 'en') ?? name.value };
}

function countryName(code: string): string | undefined {
  return countries.getName(code, 'en');
}

export function isEmpty(value: FieldValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}
