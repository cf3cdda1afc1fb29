import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { codes } from '../contract/errors.ts';
import type { AnyEndpoint, LooseInput } from './types.ts';

const MAX_LENGTH = 200;
/** Longer than any message for people: a dump, which is not searched for what must be masked. */
const MAX_READ = 2000;

/**
 * The partner's message, safe for histories and logs: what we sent, e-mails, links, keys, names and numbers that are
 * not our ids are masked. Undefined where there are no words to keep.
 */
export function partnerWords(
  message: string | undefined,
  endpoint: AnyEndpoint,
  input: LooseInput,
): string | undefined {
  if (message === undefined || message.length > MAX_READ || /<\/?[a-z!][^>]*>/i.test(message)) return undefined;
  const text = maskedNames(masked(plain(message), sentBy(endpoint, input)), endpoint);
  if (!/\p{L}/u.test(text)) return undefined;
  const letters = Array.from(text);
  return letters.length > MAX_LENGTH
    ? `${letters
        .slice(0, MAX_LENGTH - 1)
        .join('')
        .trimEnd()}…`
    : text;
}

/** The call as a message names it, with the path's ids that the words do not show: `POST /x/:flowId for flow 1234`. */
export function callText({ method, path }: AnyEndpoint, { params }: LooseInput, words = ''): string {
  const ids = Object.entries(params ?? {}).filter(([, id]) => isShowable(id) && !shows(words, String(id)));
  const texts = ids.map(([name, id]) => `${name.replace(/Id$/, '').replaceAll(/[A-Z]/g, lowered)} ${id}`);
  return `${method} ${path}${texts.length === 0 ? '' : ` for ${texts.join(', ')}`}`;
}

function shows(words: string, id: string): boolean {
  return new RegExp(wordOf(id), 'iu').test(words);
}

/** Only as a word of its own: "Li" stands in "invalid", and 1 in 100. */
function wordOf(text: string): string {
  return `(?<![\\p{L}\\d])${RegExp.escape(text)}(?![\\p{L}\\d])`;
}

/** Values by field, and ids apart: the latter are shown as they are. */
interface Sent {
  ids: Set<string>;
  fields: Map<string, string>;
}

function sentBy(endpoint: AnyEndpoint, { params, query, body }: LooseInput): Sent {
  const sent: Sent = { ids: new Set(), fields: new Map() };
  for (const id of Object.values(params ?? {})) if (isShowable(id)) sent.ids.add(String(id).toLowerCase());
  collect(endpoint.query, query, '', sent);
  collect(endpoint.body, body, '', sent);
  return sent;
}

function collect(schema: unknown, value: unknown, field: string, sent: Sent): void {
  const inner = unwrapped(schema);
  if (Array.isArray(value)) {
    for (const entry of value) collect(inner instanceof z.ZodArray ? inner.def.element : undefined, entry, field, sent);
  } else if (typeof value === 'object' && value !== null) {
    const shape: Record<string, unknown> = inner instanceof z.ZodObject ? inner.def.shape : {};
    for (const [key, entry] of Object.entries(value)) collect(shape[key], entry, key, sent);
  } else if (/(^id|Ids?|^externalRef)$/.test(field)) {
    if (isShowable(value)) sent.ids.add(String(value).toLowerCase());
  } else if (typeof value === 'string' && !isCode(inner, field, value)) {
    const text = plain(value).toLowerCase();
    // A full name is repeated in parts as well.
    const texts = /name$/i.test(field) ? [text, ...text.split(' ')] : [text];
    for (const one of texts) if (one.length > 1) sent.fields.set(one, field);
  }
}

function isCode(schema: unknown, field: string, value: string): boolean {
  return schema instanceof z.ZodEnum || (/(status|type|mode)$/i.test(field) && /^\w+$/.test(value));
}

function unwrapped(schema: unknown): unknown {
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return wrapped ? unwrapped(schema.def.innerType) : schema;
}

/** Only what looks like an id: a name or an address in its place must not reach a message. */
function isShowable(id: unknown): boolean {
  return typeof id === 'number' || (typeof id === 'string' && /^[\w:-]{1,64}$/.test(id));
}

/** One line, composed letters, nothing invisible. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

const LINK = String.raw`\w+:\/\/\S+`;
const EMAIL = String.raw`[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+`;
const KEY = String.raw`\bsk_\w+`;
const DIGITS = String.raw`\+?\d(?:[ .()-]{0,2}\d){6,}`;

/** In one pass, so that a mask is never masked again; what stands first wins where two begin at the same place. */
function masked(text: string, { ids, fields }: Sent): string {
  const values = [...fields.keys()].sort((a, b) => b.length - a.length);
  const kept = [...ids].map(wordOf);
  const wholes = values.filter((value) => value.includes('@')).map(RegExp.escape);
  const others = values.filter((value) => !value.includes('@')).map(pieceOf);
  const all = new RegExp([...kept, LINK, ...wholes, EMAIL, KEY, ...others, DIGITS].join('|'), 'giu');
  return text.replaceAll(all, (found) => {
    if (ids.has(found.toLowerCase())) return found;
    const field = fields.get(found.toLowerCase());
    if (field !== undefined) return `[${field}]`;
    if (found.includes('://')) return '[link]';
    if (found.includes('@')) return '[email]';
    return found.toLowerCase().startsWith('sk_') ? '[key]' : '[number]';
  });
}

function pieceOf(value: string): string {
  return value.length > 3 ? RegExp.escape(value) : wordOf(value);
}

const usualTexts = [...Object.keys(codes), ...Object.values(STATUS_CODES)];
const usualWords = usualTexts.flatMap((text) => (text ?? '').toLowerCase().split(/[_ ]/));

/**
 * Of people whom we did not send: two capitalised words or more in a row, unless all of them are of error codes or of
 * this call's path ("Onboarding Flow Not Found"); or a single one after a word that leads to a name.
 */
function maskedNames(text: string, endpoint: AnyEndpoint): string {
  const pathWords = endpoint.path.replaceAll(/[A-Z]/g, lowered).split(/[^a-z]+/);
  const known = new Set([...usualWords, ...pathWords, ...pathWords.map((word) => word.replace(/s$/, ''))]);
  const isKnown = (words: string): boolean => words.split(' ').every((word) => known.has(word.toLowerCase()));
  const withoutRuns = text.replaceAll(/(?<!\p{L})\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)+/gu, (run) =>
    isKnown(run) ? run : '[name]',
  );
  return withoutRuns.replaceAll(AFTER_LABEL, (all, label: string, word: string) =>
    isKnown(word) ? all : `${label}[name]`,
  );
}

/** A single name stands where a word of these leads to it: "candidate Hopper", "Name: Grace". */
const LABELS = '[Cc]andidate|[Aa]pplicant|[Pp]erson|[Ee]mployee|[Uu]ser|[Mm]ember|[Ss]igner|[Rr]ecruiter';
const AFTER_LABEL = new RegExp(
  String.raw`((?<!\p{L})(?:${LABELS}|(?:[Ff]irst|[Ll]ast|[Ff]ull)?[Nn]ame|named)` +
    String.raw`['’"”]?(?: is)?[ :='"“‘(]{1,3})(\p{Lu}[\p{L}'’-]+)`,
  'gu',
);

function lowered(letter: string): string {
  return ` ${letter.toLowerCase()}`;
}
