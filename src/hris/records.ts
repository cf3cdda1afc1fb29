import { dayOf } from '../day-of.ts';
import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import type { EmployeeFields, EmployeeRef, FieldValue, FindKey, Found, NameParts } from '../hire/hire.ts';
import { normalized } from '../in-words.ts';
import type { Amendment, EmployeeRecord, FieldDef } from './port.ts';
import type { ReadFields } from './read-cell.ts';

/** Text for comparison, ignoring case, blanks and Unicode form. */
export function foldText(text: string): string {
  return normalized(text, 'NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** Whether a record matches a search. Compared here, so that no server's filter decides on identity. */
export function fitsKey(
  { ref, reference, fields }: EmployeeRecord,
  key: FindKey,
  addresses: readonly string[] = ['email'],
): boolean {
  if (key.by === 'reference') return reference === key.value;
  if (key.by === 'number') return ref.number === key.value;
  if (key.by === 'email') return addresses.some((name) => folded(fields[name]) === folded(key.value));
  const { birthDate = null } = fields;
  if (key.by === 'person')
    return birthDate === key.birthDate && isNamed(fields, key, `${key.givenName} ${key.familyName}`);
  const isUnknown = key.birthDate === undefined || birthDate === null || birthDate === '';
  return isUnknown && isNamed(fields, key.parts, key.fullName);
}

/**
 * The record as if it had what is searched for in fields that cannot be read: whoever fits then may be the one. Only in
 * a search by birth date, in which other fields must fit as well: otherwise everybody with such a field would.
 */
export function asIfRead(record: EmployeeRecord, wanted: EmployeeFields = {}): EmployeeRecord {
  if (record.unreadable === undefined || wanted['birthDate'] === undefined) return record;
  const assumed = Object.keys(record.unreadable).map((key) => [key, wanted[key] ?? null]);
  return { ...record, fields: { ...record.fields, ...Object.fromEntries(assumed) } };
}

/** The result of a search. `trusted`: an empty result proves that nobody is there. */
export function foundBy({ by }: FindKey, refs: readonly EmployeeRef[], trusted: boolean): Found {
  // A view may show an employee in several rows.
  const [first, ...others] = new Map(refs.map((ref) => [ref.id, ref])).values();
  if (first === undefined) return { kind: 'none', trusted };
  return others.length === 0 ? { kind: 'one', ref: first, by } : { kind: 'many', refs: [first, ...others], by };
}

function folded(value: unknown): string | undefined {
  return typeof value === 'string' ? foldText(value) : undefined;
}

/** Some systems have a single name field. */
function isNamed(fields: EmployeeFields, parts: NameParts | undefined, fullName: string): boolean {
  if (typeof fields['name'] === 'string' && fields['familyName'] === undefined)
    return foldText(fields['name']) === foldText(fullName);
  if (parts === undefined) return false;
  const { familyName, givenName } = parts;
  return folded(fields['familyName']) === folded(familyName) && folded(fields['givenName']) === folded(givenName);
}

/** An employment lasts through its last day, `YYYY-MM-DD`; without a valid one it goes on. */
export function hasEnded(lastDay: string | null, today = dayOf(Date.now())): boolean {
  return lastDay !== null && isDay(lastDay) && lastDay < today;
}

/** `YYYY-MM-DD`, optionally followed by a time. */
export function isDay(text: string): boolean {
  return /^[1-9]\d{3}-\d{2}-\d{2}(?!\d)/.test(text);
}

/**
 * The fields of an amendment that still have to be written, given the employee's current values; none once it is done.
 * An unreadable value counts as neither the old nor the new one, even if one of them is empty.
 * @throws ConnectorError STALE if a field has neither the old nor the new value
 */
export function fieldsToAmend({ fields, over }: Omit<Amendment, 'from'>, held: ReadFields): EmployeeFields {
  const holds = (name: string, value: FieldValue | undefined): boolean =>
    held.unreadable?.[name] === undefined && isSame(held.fields[name], value);
  const left = Object.entries(fields).filter(([name, value]) => !holds(name, value));
  const edited = left.map(([name]) => name).filter((name) => !holds(name, over[name]));
  if (edited.length > 0) throw stale(edited);
  return Object.fromEntries(left);
}

/** Whether two values of a field are one; an empty text is none. */
export function isSame(one: FieldValue | undefined, other: FieldValue | undefined): boolean {
  return plain(one) === plain(other);
}

/** An empty text counts as no value. */
function plain(value: FieldValue | undefined): string {
  return JSON.stringify(value === '' ? null : (value ?? null));
}

function stale(edited: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'STALE',
    action: 'retry',
    message: `The HR system now has different values for ${edited.join(', ')}. Nothing was written; it is read again.`,
  });
}

/** Names every field that does not fit at once, without its value. `what`: `BambooHR requires`. */
export function refuseFields(
  code: 'INVALID_VALUE' | 'MISSING_FIELD',
  what: string,
  details: Readonly<Record<string, string>>,
): ConnectorError {
  const message = `${what}: ${Object.keys(details).join(', ')}.`;
  return rejected(code, message, { details });
}

type Known = Pick<FieldDef, 'key' | 'type' | 'required'>;

/**
 * A new record needs every required field, and a change must not empty one. `problemOf` says why the HR system does not
 * take a value.
 * @throws ConnectorError INVALID_VALUE or MISSING_FIELD, by field
 */
export function assertFits<Def extends Known>(
  { accepts, requires, known }: { accepts: string; requires: string; known: readonly Def[] },
  fields: EmployeeFields,
  isNew: boolean,
  problemOf: (value: FieldValue, def: Def) => string | undefined,
): void {
  const defs = new Map(known.map((def) => [def.key, def]));
  const problems = Object.entries(fields).flatMap(([key, value]) => {
    const def = defs.get(key);
    const problem = def === undefined ? 'is not a field of this HR system' : problemOf(value, def);
    return problem === undefined ? [] : [[key, problem]];
  });
  if (problems.length > 0) throw refuseFields('INVALID_VALUE', accepts, Object.fromEntries(problems));
  const missing = known.filter(({ key, required }) => required && (key in fields ? isEmpty(fields[key]) : isNew));
  if (missing.length === 0) return;
  const details = Object.fromEntries(missing.map(({ key }) => [key, 'must not be empty']));
  throw refuseFields('MISSING_FIELD', requires, details);
}

/** Why no HR system takes a value of this type. */
export function problemOf(value: FieldValue, { type }: Pick<FieldDef, 'type'>): string | undefined {
  if ([value].flat().some((one) => typeof one === 'string' && one.includes('\0'))) return 'holds a NUL character';
  const isDay = (value ?? null) === null || /^\d{4}-\d{2}-\d{2}$/.test(String(value));
  return type === 'date' && !isDay ? 'is not a date' : undefined;
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The id and, if there is one, the number. */
export function refOf(id: string, number: string | null | undefined): EmployeeRef {
  return number ? { id, number } : { id };
}

/** Of a create whose reference is taken: that is its result, not an error to repeat. */
export function alreadyExists(message: string, ref?: EmployeeRef): ConnectorError {
  return new ConnectorError({ code: 'ALREADY_EXISTS', action: 'ignore', message, details: ref && { ...ref } });
}

/** Turns calls into a probe's result: their refusal becomes the answer. */
export async function probed(calls: Promise<unknown>): Promise<{ ok: true } | { ok: false; error: ConnectorError }> {
  try {
    await calls;
    return { ok: true };
  } catch (error) {
    if (isConnectorError(error)) return { ok: false, error };
    throw error;
  }
}

/** What is kept of the other side's words. */
const MOST_WORDS = 300;
/** What is looked at of them. */
const MOST_SAID = 20_000;
/** From so many letters on each word of a value is cut as well, and within other words, too. */
const LEAST_PART = 4;
/** Scripts that set no blank between words, or write particles onto a name. */
const UNBROKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * What an HR system said of a write, without the values that it was sent: it may quote them whole or in part, and in
 * another case. What it wrote in another form, such as a date, stays, and what else it said of somebody cannot be
 * known. A terminal would obey control characters, so they go. Such words go into holds, and into the reasons of
 * `hire_steps`, `hire_documents` and `quarantine`.
 */
export function withoutValues(said: string, sent: readonly unknown[]): string {
  const words = inOneForm(said.slice(0, MOST_SAID));
  const values = sent.flat().flatMap((value) => (isValue(value) ? [inOneForm(String(value)).trim()] : []));
  const parts = values.flatMap((value) => value.split(/[\s,;/<>()"']+/)).filter((part) => part.length >= LEAST_PART);
  const folded = fold(words);
  const longestFirst = [...new Set([...values, ...parts].flatMap(piecesOf))]
    .filter((piece) => piece !== '' && folded.includes(fold(piece)))
    .toSorted((a, b) => b.length - a.length);
  let left = words;
  for (let at = 0; at < longestFirst.length; at += MOST_TOGETHER) {
    const some = longestFirst.slice(at, at + MOST_TOGETHER);
    left = left.replaceAll(new RegExp(some.map(patternOf).join('|'), 'giu'), '…');
  }
  return left.slice(0, MOST_WORDS);
}

function inOneForm(text: string): string {
  return normalized(text, 'NFC').replaceAll(/\p{Cc}+/gu, ' ');
}

/** So many pieces in one pattern: one that is too large is refused, by an error that quotes the values. */
const MOST_TOGETHER = 100;
/** Whole words, as far as there are any. */
const PIECE = /\S.{2,98}\S(?!\S)|\S{4,100}/gsu;

function piecesOf(value: string): readonly string[] {
  return value.length <= 100 ? [value] : (value.match(PIECE) ?? []);
}

/** Texts that a pattern takes for the same without regard to case are the same here. */
function fold(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

function isValue(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && String(value).length >= LEAST_PART);
}

/** A short value is cut as a whole word alone: within others it would leave nothing readable. */
function patternOf(value: string): string {
  const pattern = RegExp.escape(value);
  if (value.length >= LEAST_PART || UNBROKEN.test(value)) return pattern;
  return String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])`;
}
