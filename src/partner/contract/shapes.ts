import { z } from 'zod';

/** The fault of an id that could not be sent back as the same number. */
const TOO_LARGE =
  `is above ${Number.MAX_SAFE_INTEGER}, and hirebridge keeps no larger number exactly: ` +
  'ask the hiring platform for smaller ids';

/** An integer id of an answer, as text; the document says integer, as the spec does. */
export const IntegerId = z.preprocess(
  textFromNumber,
  z
    .string()
    .refine((id) => /^-?\d+$/.test(id), { error: 'expected an integer', abort: true })
    .refine((id) => !isTooLarge(id), { error: TOO_LARGE })
    .meta({ type: 'integer' }),
);

/** Whether this text is an integer that a number would round. */
export function isTooLarge(text: unknown): boolean {
  return typeof text === 'string' && /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));
}

/** A text id of an answer; a number is read as text, and the document says so: it describes what arrives. */
export const TextId = z.preprocess(
  textFromNumber,
  z
    .string()
    .min(1)
    .meta({ type: ['string', 'integer'] }),
);

/** ISO 8601 text by the spec; an epoch number is accepted. `instantOf` makes one form of both. */
export const IsoTime = z.union([z.string().min(1), z.number()]).meta({ description: 'ISO 8601 UTC text.' });

/** Epoch milliseconds by the spec; ISO 8601 text is accepted. `instantOf` makes one form of both. */
export const EpochTime = z.union([z.number(), z.string().min(1)]).meta({ description: 'Epoch milliseconds.' });
type Timestamp = number | string;

/**
 * A number of an answer that may be written as text (`"12.50"`), of any size: a sentinel for "unlimited" need not fit
 * (section 2.8, B13).
 */
export const LooseNumber = z.preprocess(
  (value: unknown) => (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value),
  z.number(),
);

/** A record whose id may stand under other names, with it in its own place. */
export function withId(record: unknown, key: string, alsoAs: readonly string[]): unknown {
  if (typeof record !== 'object' || record === null || key in record) return record;
  const known = record as Record<string, unknown>;
  const id = alsoAs.map((name) => known[name]).find((value) => value !== undefined && value !== null);
  return id === undefined ? record : { ...record, [key]: id };
}

/** An object of the spec whose fields are not shown. */
export const AnyObject = z.looseObject({});

/** What can be dialled: 5 to 15 digits, written as people do. The form of a phone is shown for enrolments only. */
export function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  return /^\+?[\d\s()./-]+$/.test(text) && digits >= 5 && digits <= 15;
}

/** One of the known values, or any other text the partner may add later. */
type Open<Known extends string> = Known | (string & {});

/** Enumeration of an answer: an unknown value is kept as text. */
export function openEnum<const Known extends string>(values: readonly Known[]): z.ZodType<Open<Known>> {
  return z.string().meta({ examples: [...values], 'x-known-values': [...values] }) as unknown as z.ZodType<Open<Known>>;
}

/** A path parameter that must be an integer. */
export function pathInteger() {
  return z.preprocess((value: number | string) => integerFromText(value), z.int().min(1));
}

/** A path parameter of any text. */
export function pathText() {
  return z.preprocess((value: number | string) => textFromNumber(value), z.string().min(1));
}

/** An integer in the query, within bounds. */
export function queryInteger(bounds: { min?: number; max?: number } = {}) {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds;
  return z.preprocess((value: number | string) => integerFromText(value), z.int().min(min).max(max));
}

/** An integer that may be sent; its digits are taken too, and nothing between quotes is none (A16). */
export function optionalInteger() {
  return z
    .preprocess(
      (value: number | string | null) => (value === '' ? undefined : integerFromText(value ?? undefined)),
      z.int().optional(),
    )
    .optional();
}

/** A number in the query, within bounds. */
export function queryNumber(min: number, max: number) {
  return z.preprocess((value: number | string) => numberFromText(value), z.number().min(min).max(max));
}

/** `true` or `false` in the query, in any case. */
export function queryBoolean() {
  return z.preprocess((value: boolean | string) => booleanFromText(value), z.boolean());
}

/** One of the page sizes allowed (section 8: 10, 20, 40, 80, 100). */
const pageSizes = [10, 20, 40, 80, 100] as const;
export function queryPageSize() {
  return z.preprocess((value: number | string) => integerFromText(value), z.literal(pageSizes));
}

/** A comma list in the query; the client may give an array. */
export function queryList<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value: string | readonly (string | number)[]) => listFromText(value), z.array(item));
}

/** A comma list of integers in the query. */
export function queryIntegers() {
  return queryList(z.preprocess(integerFromText, z.int()));
}

/** An instant, as `instant` takes it, or a calendar date in the query. */
export function queryTime() {
  return z.preprocess((value: string) => utcForm(value), z.union([Rfc3339, z.iso.date()]));
}

/** An instant that is sent: ISO 8601 in any of its forms, in UTC if it names no zone. Comes out as RFC 3339. */
export function instant() {
  return z.preprocess((value: string) => utcForm(value), Rfc3339);
}

/** The same in UTC, whatever zone it names. */
export function utcInstant() {
  return z.preprocess((value: string) => utcForm(value, InUtc), InUtc);
}

/** A calendar date that is sent; of an instant, the day that is written in it. */
export function calendarDate() {
  return z.preprocess((value: string) => (isInstant(value) ? value.slice(0, 10) : value), z.iso.date());
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && value.length > 10 && instantOf(value) !== undefined && !/^\d+$/.test(value);
}

const Rfc3339 = z.iso.datetime({ offset: true });

const InUtc = z.iso.datetime();

/** An instant that has another form in its UTC form; anything else stays. */
function utcForm(value: unknown, form: z.ZodType = Rfc3339): unknown {
  return isInstant(value) && !form.safeParse(value).success ? instantOf(value) : value;
}

/** An e-mail that is sent: also with letters beyond ASCII (RFC 6531), and without what surrounds it. */
export function emailToSend() {
  return z.preprocess((value: string) => (typeof value === 'string' ? cleanEmail(value) : value), SentEmail);
}

/** A partial body that must carry at least one known field. */
export function atLeastOne<Shape extends z.ZodObject>(schema: Shape): Shape {
  return schema.refine((value) => Object.values(value).some((field) => field !== undefined), {
    error: 'At least one field is required',
  });
}

/**
 * One UTC ISO form of both timestamp forms. Numbers under 100 thousand million are seconds (J5): as milliseconds they
 * would lie before 1973. Undefined if it is no time at all, or of a year that ISO text has no four digits for, as
 * microseconds would be.
 */
export function instantOf(time: Timestamp | null | undefined): string | undefined {
  if (time === null || time === undefined || time === '') return undefined;
  const epoch = typeof time === 'number' ? time : /^\d{9,}$/.test(time) ? Number(time) : undefined;
  const ms = epoch === undefined ? parseIso(String(time)) : epoch < 1e11 ? epoch * 1000 : epoch;
  const date = new Date(ms);
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return /^\d/.test(iso) ? iso : undefined;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Date.parse reads much that is no ISO 8601, and a time without a zone in the machine's. Here that is UTC. */
function parseIso(text: string): number {
  const [, year, month, day, zone] = ISO.exec(text) ?? [];
  if (year === undefined) return Number.NaN;
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!isDay || Number(month) > 12) return Number.NaN;
  const iso = text.replace(' ', 'T').replace(',', '.').toUpperCase();
  if (zone === undefined) return Date.parse(iso.includes('T') ? `${iso}Z` : iso);
  return Date.parse(iso.replace(/([+-]\d{2}):?(\d{2})?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`));
}

function integerFromText(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) && !isTooLarge(value) ? Number(value) : value;
}

function numberFromText(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value;
}

function textFromNumber(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

function booleanFromText(value: unknown): unknown {
  const text = typeof value === 'string' ? value.toLowerCase() : value;
  return text === 'true' ? true : text === 'false' ? false : value;
}

function listFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Blanks that String.trim leaves: zero-width ones, the soft hyphen and the marks of writing direction. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu;

/**
 * An e-mail as it is sent and compared: without blanks around it, without invisible characters, the domain in lower
 * case. The part before the @ keeps its capitals, since by the standard they may matter.
 */
export function cleanEmail(text: string): string {
  const visible = text.replaceAll(INVISIBLE, '').trim();
  const at = visible.lastIndexOf('@');
  return visible.slice(0, at + 1) + visible.slice(at + 1).toLowerCase();
}

/** A word before the @ (RFC 5322, "atext"), with letters of every script. */
const WORD = String.raw`[\p{L}\p{M}\p{N}!#$%&'*+/=?^_{|}~\x60-]+`;
const MAILBOX = String.raw`${WORD}(?:\.${WORD})*`;
const DOMAIN = String.raw`(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+\p{L}[\p{L}\p{M}\p{N}-]+`;
const SentEmail = z.email({ pattern: new RegExp(`^${MAILBOX}@${DOMAIN}$`, 'u') });

/** An e-mail of an answer, without surrounding characters. */
export const Email = z.preprocess((value) => (typeof value === 'string' ? cleanEmail(value) : value), z.string());

export const CandidateId = IntegerId.brand<'CandidateId'>();

export const JobId = IntegerId.brand<'JobId'>();

export const JobCandidateId = IntegerId.brand<'JobCandidateId'>();

export const PipelineId = IntegerId.brand<'PipelineId'>();

export const StageId = IntegerId.brand<'StageId'>();

export const CustomFieldId = TextId.brand<'CustomFieldId'>();

export const FlowId = TextId.brand<'FlowId'>();

export const OnboardingCandidateId = TextId.brand<'OnboardingCandidateId'>();
