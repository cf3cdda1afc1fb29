import { type Value, withoutEdges } from '../values/transforms.ts';
import type { SourcePath } from './source-fields.ts';

/**
 * The records that a mapping reads, as the partner sent them; a missing record reads as empty. `candidate.customFields`
 * falls back to those of the job candidate if the partner shows them there.
 */
export type MappingSources = Readonly<Record<string, Record<string, unknown> | undefined>>;

type Read = { value: Value | undefined } | { code: string; text: string };

/**
 * Reads one path of the partner's records. Empty text is an unset custom field (section 2.2), so it reads as undefined.
 */
export function readSource(path: SourcePath, sources: MappingSources): Read {
  const record = sources[path.source];
  if (record === undefined) return { value: undefined };
  if ('customField' in path && path.of !== undefined) return readNested(path, path.of, record);
  if ('customField' in path) return readCustomField(path.customField, customFieldsOf(path, sources), path.text);
  if (path.without !== undefined) return { value: wholeText(record, path.without) };
  const value = record[path.field];
  if (path.question !== undefined) return readAnswer(path.question, value, path.text);
  if (path.key !== undefined) return typed(plain, isRecord(value) ? value[path.key] : undefined, path.text);
  return typed(/^id$|Id$/.test(path.field) ? idValue : plain, value, path.text);
}

/**
 * In the specification, a candidate record has no custom fields: they come with the job candidate (section 2.4) or were
 * read separately.
 */
function customFieldsOf(path: SourcePath, sources: MappingSources): Record<string, unknown> {
  const own = sources[path.source]?.['customFields'];
  const beside = path.source === 'candidate' ? sources['jobCandidate']?.['customFields'] : undefined;
  return { ...(isRecord(beside) ? beside : {}), ...(isRecord(own) ? own : {}) };
}

type Nested = NonNullable<Extract<SourcePath, { customField: string }>['of']>;

/** Reads a custom field of one entry of a list; a missing entry reads as empty. */
function readNested(
  { customField, text }: Extract<SourcePath, { customField: string }>,
  { list, pick }: Nested,
  record: Record<string, unknown>,
): Read {
  const entries = (Array.isArray(record[list]) ? record[list] : []).filter(isRecord);
  const current = entries.filter((one) => one['current'] === true || one['isCurrent'] === true);
  if (pick === 'current' && entries.length > 0 && current.length !== 1)
    return {
      code: 'ENTRY_UNCLEAR',
      text:
        `${text}: ${current.length === 0 ? 'no entry' : 'more than one entry'} of ${list} says that it is the ` +
        'current one. Write first or last, in the order of the hiring platform.',
    };
  const entry = { first: entries[0], last: entries.at(-1), current: current[0] }[pick];
  const fields = entry?.['customFields'];
  return readCustomField(customField, isRecord(fields) ? fields : {}, text);
}

function readCustomField(wanted: string, fields: Record<string, unknown>, text: string): Read {
  const byId = fields[wanted];
  if (Object.hasOwn(fields, wanted)) return readValue(isRecord(byId) ? byId['value'] : byId, text);
  const label = foldLabel(wanted);
  const hits = Object.values(fields).filter(
    (field) => isRecord(field) && typeof field['label'] === 'string' && foldLabel(field['label']) === label,
  );
  if (hits.length > 1)
    return {
      code: 'AMBIGUOUS_LABEL',
      text:
        `${text} fits ${hits.length} custom fields of that label. Write the id of the one you mean into the ` +
        'mapping.',
    };
  const [hit] = hits;
  return isRecord(hit) ? readValue(hit['value'], text) : { value: undefined };
}

/** A question is found by its text only. A question that was not asked or not answered reads as empty. */
function readAnswer(question: string, answers: unknown, text: string): Read {
  const wanted = foldLabel(question);
  const hits = (Array.isArray(answers) ? answers : []).filter(
    (one) => isRecord(one) && typeof one['question'] === 'string' && foldLabel(one['question']) === wanted,
  ) as Record<string, unknown>[];
  if (hits.length <= 1) return readValue(hits[0]?.['answer'], text);
  return {
    code: 'AMBIGUOUS_LABEL',
    text: `${text} was asked ${hits.length} times in this application. Ask it once in the job's form.`,
  };
}

function readValue(value: unknown, text: string): Read {
  return typed((one) => bare(plain(one)), value, text);
}

/** A value of an unusable type must not read as empty, because that would empty the other side. */
function typed(reading: (value: unknown) => Value | undefined, value: unknown, text: string): Read {
  const read = reading(value);
  if (read !== undefined || value === undefined || value === null) return { value: read };
  return {
    code: 'WRONG_TYPE',
    text:
      `${text} holds something other than a text, a number, a list, or yes or no. Correct it in the hiring ` +
      'platform.',
  };
}

/** The record as one text, which is equal for equal records. */
function wholeText(record: Record<string, unknown>, without: readonly string[]): string {
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !without.includes(name)));
  return JSON.stringify(own, (_name, value: unknown) => {
    if (typeof value === 'string') return unsigned(value);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** Query parameters that sign a file's address. They open the file to anybody and change with every reading. */
const SIGNED = /[?&](?:x-(?:amz|goog|oss)-[\w-]+|signature|sig|token|expires|key-pair-id|policy)=/i;

function unsigned(text: string): string {
  return /^https?:\/\//i.test(text) && SIGNED.test(text) ? text.replace(/[?#].*$/s, '') : text;
}

/** We treat ids as text, but an id of digits only must also fit a number field. */
function idValue(value: unknown): Value | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && String(number) === value ? number : plain(value);
}

function plain(value: unknown): Value | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number')
    ? value.map(String)
    : undefined;
}

/**
 * People type and paste custom fields, so blanks around a text are dropped. Invisible characters inside may matter and
 * stay.
 */
function bare(value: Value | undefined): Value | undefined {
  if (Array.isArray(value)) return value.map(bareText);
  return typeof value === 'string' ? bareText(value) : value;
}

/** The text without blanks and invisible characters around it. */
export function bareText(text: string): string {
  return withoutEdges(text, /[\s\p{Cf}]/u);
}

/** Folds a label so that labels compare as people read them. */
export function foldLabel(label: string): string {
  return label.normalize('NFC').trim().toLowerCase();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
