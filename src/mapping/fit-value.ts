import type { FieldValue } from '../hire/hire.ts';
import type { FieldDef } from '../hris/port.ts';
import { decimalValue, type Value } from '../values/transforms.ts';

/** Converts the value to the HR system's type, or says why not. Cuts nothing to fit. */
export function fitValue(
  def: FieldDef,
  value: Value,
  where: string,
): { value: FieldValue } | { code: string; text: string } {
  const fitted = FIT[def.type](value);
  if (fitted === undefined)
    return {
      code: 'WRONG_TYPE',
      text:
        `${where} does not give ${KIND[def.type]} for "${def.key}". Add a transform to the mapping, or correct ` +
        'the value in the hiring platform.',
    };
  const { options, maxLength } = def;
  if (options !== undefined && !areAll(fitted, (one) => options.includes(one)))
    return {
      code: 'NOT_AN_OPTION',
      text: `${where} gives a value that "${def.key}" does not accept in the HR system. Add a lookup to the mapping.`,
    };
  if (!areAll(fitted, (one) => !one.includes('\0')))
    return {
      code: 'BROKEN_TEXT',
      text: `${where} holds a NUL character, which no database keeps. Correct it in the hiring platform.`,
    };
  if (!areAll(fitted, isWellFormed))
    return {
      code: 'BROKEN_TEXT',
      text:
        `${where} holds half a character, as when a text was cut in the middle of an emoji; a database would change ` +
        'it. Correct it in the hiring platform.',
    };
  if (maxLength !== undefined && !areAll(fitted, (one) => one.length <= maxLength || lengthOf(one) <= maxLength))
    return {
      code: 'TOO_LONG',
      text:
        `${where} gives ${Math.max(...[fitted].flat().map((one) => lengthOf(String(one))))} characters, and ` +
        `"${def.key}" holds ${maxLength} in the HR system. ` +
        'Shorten it in the hiring platform, or widen the field there.',
    };
  if (def.decimals !== undefined && def.type === 'number' && decimalsOf(fitted) > def.decimals)
    return {
      code: 'TOO_PRECISE',
      text:
        `${where} gives more than the ${def.decimals} decimals that "${def.key}" holds in the HR system, which would ` +
        'round it. Correct it in the hiring platform, or widen the field there.',
    };
  return { value: fitted };
}

function areAll(value: FieldValue, test: (text: string) => boolean): boolean {
  return Array.isArray(value) ? value.every(test) : test(String(value));
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** 1e-7 has seven decimals. */
function decimalsOf(value: FieldValue): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent));
}

/** Counts characters as databases do: an emoji outside the first plane is one character, not two. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

export const KIND = {
  text: 'text',
  number: 'a number',
  date: 'a day as YYYY-MM-DD',
  boolean: 'true or false',
  list: 'a list',
};

const FIT: Record<FieldDef['type'], (value: Value) => FieldValue | undefined> = {
  text: (value) => (Array.isArray(value) ? undefined : asText(value)),
  number: asNumber,
  date: (value) => (typeof value === 'string' && isDay(value) ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  list: (value) => (Array.isArray(value) ? value : undefined),
};

/**
 * A decimal that a number would change stays text, and money comes as text (`"4200.50"`). Leading zeros belong to a
 * code, not a number. An integer beyond the safe range may already have been rounded.
 */
function asNumber(value: Value): number | string | undefined {
  if (typeof value === 'string') return /^[+-]?0\d/.test(value) ? undefined : decimalValue(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
}

/** Refuses a number whose text would be rounded or have an exponent: nobody typed 1e21. */
function asText(value: string | number | boolean): string | undefined {
  const text = String(value);
  if (typeof value !== 'number') return text;
  return /^-?\d+(\.\d+)?$/.test(text) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? text : undefined;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
