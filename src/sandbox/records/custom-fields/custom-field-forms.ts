import { ApiError, invalidRequest } from '../../errors.ts';
import type { CustomField } from './custom-fields.ts';

/** Section 2.5, value storage: what each type accepts, and the form it is kept and answered in (F1, assumed). */
const STORED: Record<string, (value: unknown, field: CustomField) => unknown> = {
  text: (value) => asText(value),
  textarea: (value) => asText(value),
  select: (value, field) => asOption(value, field),
  'multi-select': (value, field) =>
    Array.isArray(value) ? JSON.stringify(value.map((one) => asOption(one, field))) : fail('an array of options'),
  number: (value) => asNumber(value),
  date: (value) => (typeof value === 'string' && isDate(value) ? value : fail('a date as YYYY-MM-DD')),
  checkbox: (value) => (typeof value === 'boolean' ? value : fail('true or false')),
};

/** Null clears a value: it is stored as null (F11, assumed). */
export function storedForm(field: CustomField, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const toStored = STORED[field.fieldType];
  return toStored === undefined ? value : toStored(value, field);
}

/** Details name each field by its whole path (G15, assumed): `value` alone would leave open whose. */
export function named<T>(pathOf: (field: string) => string, upsert: () => T): T {
  try {
    return upsert();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details === undefined) throw error;
    const details = Object.entries(error.details).map(([field, words]) => [pathOf(field), words]);
    const { status, code, type, message } = error;
    throw new ApiError({ status, code, type, message, details: Object.fromEntries(details) });
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : fail('a text');
}

function asNumber(value: unknown): number {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : fail('a number');
}

/** A value outside the options is refused (F2, assumed). */
function asOption(value: unknown, field: CustomField): string {
  return typeof value === 'string' && (field.options ?? []).includes(value)
    ? value
    : fail(`one of ${(field.options ?? []).join(', ')}`);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function fail(expected: string): never {
  throw invalidRequest('The value does not fit the field type', { value: `must be ${expected}` });
}
