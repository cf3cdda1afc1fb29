import type { FieldValue } from '../hire/hire.ts';
import { decimalValue } from '../values/transforms.ts';
import { readMultiSelect } from './contract/custom-fields.ts';

/** A definition's facts about its values. */
interface ValueForm {
  type: string;
  options?: readonly string[] | null;
}

type Given = Exclude<FieldValue, null>;

type Encoded = { sent: Given } | { wrong: string };

/**
 * A stored value as a mapping reads it (section 2.5): a multi-select as a list, a number as a number, a checkbox as
 * true or false, everything else as text. A value in no form of its type stays unchanged, so that the mapping refuses
 * it by name; so does a decimal that a number would change.
 */
export function decodeValue(type: string, stored: unknown): unknown {
  if (type === 'multi-select') return readMultiSelect(stored) ?? stored;
  if (type === 'number') return typeof stored === 'string' && isCanonical(stored) ? Number(stored) : stored;
  if (type === 'checkbox') return stored === 'true' || stored === 'false' ? stored === 'true' : stored;
  return stored;
}

/**
 * A value in the form that its custom field takes, or why there is none. Nothing is rounded, cut or guessed, and a
 * select takes only its options. `decodeValue` returns the same value.
 */
export function encodeValue({ type, options }: ValueForm, value: Given): Encoded {
  const encode = ENCODE[type];
  // A type that the specification does not name: the partner judges.
  if (encode === undefined) return { sent: value };
  const sent = encode(value, options ?? []);
  return sent === undefined ? { wrong: `takes ${TAKES[type]}` } : { sent };
}

type Encode = (value: Given, options: readonly string[]) => Given | undefined;

const ENCODE: Record<string, Encode> = {
  text: (value) => asText(value),
  textarea: (value) => asText(value),
  select: (value, options) => only(asText(value), (text) => options.includes(text)),
  'multi-select': (value, options) =>
    only(Array.isArray(value) ? value : undefined, (list) => list.every((one) => options.includes(one))),
  number: asNumber,
  date: (value) => only(asText(value), isDay),
  checkbox: (value) => (typeof value === 'boolean' ? value : undefined),
};

const TAKES: Record<string, string> = {
  text: 'a text',
  textarea: 'a text',
  select: 'one of its options',
  'multi-select': 'a list of its options',
  number: 'a number',
  date: 'a day as YYYY-MM-DD',
  checkbox: 'true or false',
};

function only<T>(value: T | undefined, fits: (value: T) => boolean): T | undefined {
  return value !== undefined && fits(value) ? value : undefined;
}

/** A number has one plain notation; a list and a boolean have none. */
function asText(value: Given): string | undefined {
  if (typeof value === 'number') return isCanonical(String(value)) ? String(value) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Zeros behind the point say nothing: money is written with them. Those before a number may be part of a text. */
function asNumber(value: Given): number | undefined {
  const text = String(value);
  if (Array.isArray(value) || typeof value === 'boolean' || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text))
    return undefined;
  const decimal = decimalValue(text);
  return typeof decimal === 'number' ? decimal : undefined;
}

/** A decimal that comes back from a number letter by letter: not 007, 1.50, 1e21 or 0.1000000000000000055. */
function isCanonical(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
