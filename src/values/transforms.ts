import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import type * as AnyAscii from 'any-ascii';
import type Countries from 'i18n-iso-countries';
import type * as Phones from 'libphonenumber-js';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { normalized } from '../in-words.ts';
import { instantOf } from '../partner/contract/shapes.ts';

const require = createRequire(import.meta.url);
let loaded: typeof Countries | undefined;

/** Loaded with the first country or phone number: commands without them start a tenth of a second sooner. */
function countries(): typeof Countries {
  if (loaded !== undefined) return loaded;
  loaded = require('i18n-iso-countries') as typeof Countries;
  loaded.registerLocale(require('i18n-iso-countries/langs/en.json') as Parameters<typeof loaded.registerLocale>[0]);
  return loaded;
}

function phones() {
  return require('libphonenumber-js') as typeof Phones;
}

export type Value = string | number | boolean | string[];

/**
 * The result of a transform: a value, or the reason for a failure in words that repeat no personal value. An undefined
 * value means that nothing is left.
 */
export type Transformed = { value: Value | undefined } | { code: string; text: string };

export type Transform = (value: Value, option: unknown) => Transformed;

/** Days that a format may confuse; each is in the hundred years that two digits can mean. */
const TRIAL_DAYS = ['1989-12-31', '2007-02-03', '2026-11-05', '2027-03-02'];

/** Whether text in this format tells one day from another. Luxon's `DD` is a whole day, and its `YYYY` no year. */
function isDayFormat(format: string): boolean {
  if (/[DY]/.test(format.replaceAll(/'[^']*'/g, ''))) return false;
  return TRIAL_DAYS.every((day) => {
    const written = DateTime.fromISO(day, { zone: 'utc', locale: 'en' }).toFormat(format);
    return DateTime.fromFormat(written, format, { zone: 'utc', locale: 'en' }).toISODate() === day;
  });
}

/** Options by transform, for the schema of mapping files. A transform that is absent here has none. */
export const transformOptions = {
  date: z.strictObject({
    formats: z
      .array(
        z
          .string()
          .min(1)
          .refine(
            isDayFormat,
            'expected Luxon tokens for day, month and year, as in dd.MM.yyyy (dd and yyyy small; mm is minutes)',
          ),
      )
      .min(1)
      .describe(
        'Luxon format tokens, for example dd.MM.yyyy; text that fits two of them with different results is refused',
      ),
  }),
  phone: z.strictObject({
    country: z
      .string()
      .length(2)
      .refine((code) => phones().isSupportedCountry(code), 'expected an ISO 3166-1 alpha-2 country')
      .describe('Country of numbers written without +'),
  }),
  money: z.strictObject({
    currency: z
      .string()
      .refine((code) => Intl.supportedValuesOf('currency').includes(code), 'expected an ISO 4217 currency such as EUR')
      .describe('Currency of the amount; amounts with more decimals than it has are refused'),
  }),
  join: z.strictObject({ separator: z.string() }),
  split: z.strictObject({ separator: z.string().min(1) }),
};

/**
 * All transforms. Each takes one value and its options; lists are handled item by item, unless the transform is about
 * lists.
 */
export const transforms = {
  trim: texts((text) => text.trim()),
  lower: texts((text) => text.toLowerCase()),
  upper: texts((text) => text.toUpperCase()),
  titleCase: texts((text) =>
    text
      .toLowerCase()
      .replaceAll(/(^|[\s'’-])(\p{L})/gu, (_all, before: string, letter: string) => before + capital(letter)),
  ),
  name: texts(toName),
  login: each(toLogin),
  date: each(toDate),
  instant: each(toInstant),
  phone: each(toPhone),
  country: each(toCountry),
  number: each(toNumber),
  money: each(toMoney),
  option: each(toOption),
  boolean: each(
    (text) => BOOLEANS.get(text.trim().toLowerCase()) ?? { code: 'NOT_A_BOOLEAN', text: 'is neither yes nor no' },
  ),
  first: (value) => ({ value: Array.isArray(value) ? value.find((item) => item.trim() !== '') : value }),
  join: (value, option) => ({
    value: Array.isArray(value) ? value.filter((item) => item.trim() !== '').join(separator(option, ' ')) : value,
  }),
  split: (value, option) => ({
    value: Array.isArray(value) ? value : items(String(value).split(separator(option, ','))),
  }),
  list: (value) => (Array.isArray(value) ? { value } : parseList(String(value))),
} satisfies Record<string, Transform>;

export type TransformName = keyof typeof transforms;

/** A text as a transform reads it; undefined if it is not of that kind. */
export function readText(name: 'instant' | 'phone', text: string, option?: unknown): string | undefined {
  const read = transforms[name](text, option);
  return 'value' in read && typeof read.value === 'string' ? read.value : undefined;
}

const BOOLEANS = new Map<string, Transformed>([
  ...['true', 'yes', '1'].map((word) => [word, { value: true }] as const),
  ...['false', 'no', '0'].map((word) => [word, { value: false }] as const),
]);

/** If a letter's capital is two letters (ß, ﬁ), the second stays small, so that repeating it changes nothing. */
function capital(letter: string): string {
  const [first = '', ...rest] = Array.from(letter.toUpperCase());
  return first + rest.join('').toLowerCase();
}

function texts(change: (text: string) => string): Transform {
  return (value) => ({ value: Array.isArray(value) ? value.map(change) : change(String(value)) });
}

function each(change: (text: string, option: unknown) => Transformed): Transform {
  return (value, option) => {
    if (!Array.isArray(value)) return change(String(value), option);
    const done: string[] = [];
    for (const item of value) {
      const result = change(item, option);
      if ('code' in result) return result;
      if (result.value !== undefined) done.push(String(result.value));
    }
    return { value: done };
  };
}

/**
 * A login name: ASCII lower case, digits, dots, hyphens and underscores, and one @ if the text has one. Letters of
 * other scripts become those that sound most similar.
 */
function toLogin(text: string): Transformed {
  const { default: anyAscii } = require('any-ascii') as typeof AnyAscii;
  const parts = anyAscii(normalized(text, 'NFC'))
    .toLowerCase()
    .replaceAll(/[^0-9a-z._@-]+/g, '')
    .split('@')
    .map((part) => withoutEdges(part.replaceAll(/\.{2,}/g, '.'), /[._-]/));
  return parts.length <= 2 && parts.every((part) => part !== '')
    ? { value: parts.join('@') }
    : { code: 'NOT_A_LOGIN', text: 'leaves no user name or address of plain letters and digits' };
}

/** The text without such characters at both ends. A regular expression for the end takes quadratic time. */
export function withoutEdges(text: string, edge: RegExp): string {
  const isInner = (unit = ''): boolean => unit !== '' && unit < '\ud800' && !edge.test(unit);
  if (isInner(text[0]) && isInner(text.at(-1))) return text;
  const letters = Array.from(text);
  const first = letters.findIndex((letter) => !edge.test(letter));
  const last = letters.findLastIndex((letter) => !edge.test(letter));
  return first === -1 ? '' : letters.slice(first, last + 1).join('');
}

/** Strict `YYYY-MM-DD`. Without formats: that form, or the day part of an ISO instant as written. */
function toDate(text: string, option: unknown): Transformed {
  const formats = (option as { formats?: string[] } | undefined)?.formats;
  const trimmed = text.trim();
  const days = formats
    ? formats.map((format) => DateTime.fromFormat(trimmed, format, { zone: 'utc', locale: 'en' }))
    : [DateTime.fromISO(/^\d{4}-\d{2}-\d{2}(?:T.+)?$/.test(trimmed) ? trimmed.slice(0, 10) : '-', { zone: 'utc' })];
  const found = new Set(days.filter((day) => day.isValid).map((day) => day.toISODate()));
  const [day] = found;
  if (day === undefined || day === null)
    return { code: 'NOT_A_DATE', text: `is not a day in the form ${formats?.join(' or ') ?? 'YYYY-MM-DD'}` };
  return found.size === 1
    ? { value: day }
    : { code: 'AMBIGUOUS_DATE', text: `can be read as different days by ${formats?.join(' and ')}` };
}

/** UTC ISO text; numbers are epoch seconds or milliseconds (J5, assumed). */
function toInstant(text: string): Transformed {
  const instant = instantOf(text.trim());
  return instant === undefined
    ? { code: 'NOT_AN_INSTANT', text: 'is no time, neither ISO 8601 nor an epoch' }
    : { value: instant };
}

function toPhone(text: string, option: unknown): Transformed {
  const country = (option as { country?: Phones.CountryCode } | undefined)?.country;
  const options = { extract: false, ...(country && { defaultCountry: country }) };
  const phone = phones().parsePhoneNumberFromString(text.trim(), options);
  // An extension has no place in the number, and without it the number is another one.
  return phone?.isValid() && phone.ext === undefined
    ? { value: phone.number }
    : {
        code: 'NOT_A_PHONE',
        text: country
          ? `is not a phone number, read as one of ${country}`
          : 'is not a phone number with its country code (+...)',
      };
}

function toCountry(text: string): Transformed {
  const trimmed = text.trim();
  const code = /^[a-z]{2}$/i.test(trimmed)
    ? trimmed.toUpperCase()
    : /^[a-z]{3}$/i.test(trimmed)
      ? countries().alpha3ToAlpha2(trimmed.toUpperCase())
      : undefined;
  const known = code !== undefined && countries().isValid(code) ? code : countries().getAlpha2Code(trimmed, 'en');
  return known
    ? { value: known }
    : { code: 'NOT_A_COUNTRY', text: 'is not a country by its English name or ISO 3166 code' };
}

/** A name in its usual form: one blank between parts, no invisible characters around them, composed letters. */
function toName(text: string): string {
  return normalized(text, 'NFC')
    .replaceAll(/[\u200b\u2060\ufeff]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Number of digits that a number stores exactly. */
const EXACT_DIGITS = 15;

function toNumber(text: string): Transformed {
  const trimmed = text.trim();
  if (!DECIMAL.test(trimmed)) return { code: 'NOT_A_NUMBER', text: 'is not a number such as 12 or 12.5' };
  const digits = trimmed.replaceAll(/^-?0*|\./g, '');
  if (digits.length <= EXACT_DIGITS) return { value: Number(trimmed) };
  return { code: 'NOT_EXACT', text: `has more than ${EXACT_DIGITS} digits, which a number would round` };
}

/** A decimal as text, with the currency's number of decimals (ISO 4217): `1200.50`. */
function toMoney(text: string, option: unknown): Transformed {
  const { currency } = option as { currency: string };
  const trimmed = text.trim();
  if (!DECIMAL.test(trimmed)) return { code: 'NOT_AN_AMOUNT', text: 'is not an amount such as 1200 or 1200.50' };
  const { maximumFractionDigits: decimals = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  const [whole = '', fraction = ''] = trimmed.split('.');
  if (/[1-9]/.test(fraction.slice(decimals)))
    return { code: 'NOT_AN_AMOUNT', text: `has more decimals than ${currency} (${decimals})` };
  const cents = fraction.slice(0, decimals).padEnd(decimals, '0');
  return { value: decimals === 0 ? whole : `${whole}.${cents}` };
}

/** The value in the field's own spelling, ignoring case and blanks. */
function toOption(text: string, option: unknown): Transformed {
  const { values } = option as { values: readonly string[] };
  const fitting = values.filter((value) => foldSigns(value) === foldSigns(text));
  const [only] = values.includes(text) ? [text] : fitting;
  return only !== undefined && (fitting.length === 1 || only === text)
    ? { value: only }
    : { code: 'NOT_AN_OPTION', text: 'is none of the values that the HR system has for this field' };
}

/** A text as people read it, ignoring case, blanks and the form of its signs. */
export function foldSigns(text: string): string {
  return normalized(text, 'NFKC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
}

function parseList(text: string): Transformed {
  let parsed: unknown;
  try {
    parsed = text.trim().startsWith('[') ? JSON.parse(text) : undefined;
  } catch {
    // It is not JSON after all: treat it as text, below.
  }
  if (!Array.isArray(parsed)) return { value: items(text.split(',')) };
  const isPlain = parsed.every((item) => item !== null && typeof item !== 'object');
  return isPlain ? { value: items(parsed.map(String)) } : { code: 'WRONG_TYPE', text: 'is a list of other than texts' };
}

function items(parts: readonly string[]): string[] {
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function separator(option: unknown, fallback: string): string {
  return (option as { separator?: string } | undefined)?.separator ?? fallback;
}

/** A part of a template: literal text, or a path in braces. */
export type TemplatePart = { text: string } | { path: string };

/** Splits `{candidate.lastName}, {candidate.firstName}`. Undefined if a brace is unmatched or empty. */
export function templateParts(template: string): TemplatePart[] | undefined {
  const parts = template
    .split(/\{([^{}]+)\}/)
    .map((part, index) => (index % 2 === 0 ? { text: part } : { path: part.trim() }));
  const lone = parts.some((part) => ('text' in part ? /[{}]/.test(part.text) : part.path === ''));
  return lone ? undefined : parts.filter((part) => !('text' in part) || part.text !== '');
}

/** Most digits that are written out; no salary has more. */
const MOST_DIGITS = 400;

/**
 * A decimal in its one standard form: a number if it survives the conversion digit by digit, else its text. Undefined
 * if the text is no decimal: NaN, infinity, `1,5`.
 */
export function decimalValue(text: string): number | string | undefined {
  const plain = plainDecimal(text);
  if (plain === undefined) return undefined;
  const number = Number(plain);
  return String(number) === plain && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : plain;
}

/** Written out, without redundant zeros: `1200.50` is `1200.5`, `1e3` is `1000`, `-0` is `0`. */
function plainDecimal(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > MOST_DIGITS || whole.length + fraction.length > MOST_DIGITS) return undefined;
  const digits = `${whole}${fraction}`;
  const point = whole.length + shift;
  const padded = point < 0 ? `${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(point, 0);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const after = padded.slice(at).replace(/0+$/, '');
  const plain = after === '' ? before : `${before}.${after}`;
  return sign === '-' && plain !== '0' ? `-${plain}` : plain;
}

export interface TransformStep {
  name: TransformName;
  option?: unknown;
}

/** Applies the transforms in order; stops at the first that refuses or leaves nothing. */
export function applyTransforms(
  steps: readonly TransformStep[],
  start: Value | undefined,
  onStep?: (name: TransformName, value: Value | undefined) => void,
): Transformed {
  let value = start;
  for (const { name, option } of steps) {
    if (isEmpty(value)) return { value: undefined };
    const done = (transforms[name] as Transform)(value, option);
    if ('code' in done) return done;
    value = done.value;
    onStep?.(name, value);
  }
  return { value };
}

/** Applies the transforms backwards: returns the partner's value from which they give this value. */
export function undoTransforms(steps: readonly TransformStep[], start: Value): Transformed {
  let value: Value | undefined = start;
  for (const { name, option } of steps.toReversed()) {
    const inverse = inverses[name];
    if ('none' in inverse) return { code: 'NOT_INVERTIBLE', text: inverse.none };
    if (isEmpty(value)) return { value: undefined };
    const done = inverse.back(value, option);
    if ('code' in done) return done;
    value = done.value;
  }
  return { value };
}

export function isEmpty(value: Value | undefined): value is undefined {
  return (
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** How a transform is undone. Canonical values stay the same in both directions. */
export interface Inverse {
  /** Whether the transform leaves the value unchanged. */
  isCanonical(value: Value, option: unknown): boolean;
  /** Converts from the HR system to the partner. Refuses a value that would not come out the same again. */
  back: Transform;
}

/**
 * For every transform, how it is undone or why it cannot be; a rule with one that cannot be undone never flows to the
 * partner.
 */
export const inverses: Record<TransformName, Inverse | { none: string }> = {
  trim: spelling('trim'),
  lower: exact('lower'),
  upper: exact('upper'),
  titleCase: exact('titleCase'),
  name: spelling('name'),
  login: { none: '"login" makes plain letters of those of all scripts' },
  date: { isCanonical: isWrittenDay, back: writeDay },
  instant: spelling('instant'),
  phone: spelling('phone'),
  country: spelling('country'),
  number: spelling('number'),
  money: spelling('money'),
  option: spelling('option'),
  boolean: spelling('boolean'),
  first: { none: '"first" leaves the other values out' },
  join: { none: '"join" makes one text of values, which cannot be split again' },
  split: { isCanonical: isJoined, back: joinAgain },
  list: spelling('list'),
};

/** Both sides write the transform's result the same way, so the way back is the same transform. */
function spelling(name: TransformName): Inverse {
  return { isCanonical: (value, option) => isUnchanged(name, value, option), back: transforms[name] };
}

/** Capitals carry meaning, so a value with other capitals is not sent back. */
function exact(name: TransformName): Inverse {
  const isCanonical = (value: Value, option: unknown): boolean => isUnchanged(name, value, option);
  const text = `is not written as "${name}" writes it, and would be another value on its way back`;
  return {
    isCanonical,
    back: (value, option) => (isCanonical(value, option) ? { value } : { code: 'NOT_CANONICAL', text }),
  };
}

function isUnchanged(name: TransformName, value: Value, option: unknown): boolean {
  return isDeepStrictEqual((transforms[name] as Transform)(value, option), { value });
}

/** Writes a day in the rule's one format, or as YYYY-MM-DD. */
function writeDay(value: Value, option: unknown): ReturnType<Transform> {
  const [format] = formatsOf(option);
  const day = transforms.date(value, undefined);
  if (format === undefined || 'code' in day) return day;
  const written = DateTime.fromISO(String(day.value), { zone: 'utc' }).toFormat(format, { locale: 'en' });
  if (isDeepStrictEqual(transforms.date(written, option), day)) return { value: written };
  return { code: 'NOT_CANONICAL', text: `is a day that ${format} cannot tell from another` };
}

function isWrittenDay(value: Value, option: unknown): boolean {
  const day = transforms.date(value, option);
  if ('code' in day || day.value === undefined) return false;
  return isDeepStrictEqual(writeDay(day.value, option), { value });
}

export function formatsOf(option: unknown): string[] {
  return (option as { formats?: string[] } | undefined)?.formats ?? [];
}

function isJoined(value: Value, option: unknown): boolean {
  return isDeepStrictEqual(joinAgain(value, option), { value });
}

function joinAgain(value: Value, option: unknown): ReturnType<Transform> {
  const apart = transforms.split(value, option);
  const items = 'value' in apart && Array.isArray(apart.value) ? apart.value : [];
  const { separator = ',' } = (option ?? {}) as { separator?: string };
  const joined = items.join(separator);
  if (isDeepStrictEqual(transforms.split(joined, option), { value: items })) return { value: joined };
  return { code: 'NOT_CANONICAL', text: `has an item that "${separator}" would take apart again` };
}
