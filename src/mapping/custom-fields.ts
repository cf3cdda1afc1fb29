import type { FieldValue } from '../hire/hire.ts';
import { didYouMean, foldLabel } from '../in-words.ts';
import { type CustomField, readMultiSelect } from '../partner/contract/custom-fields.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { decimalValue } from '../values/transforms.ts';
import { pathsRead } from './compile-rule.ts';
import type { Mapping } from './load-mapping.ts';
import { type MappingSources, sourceRecords } from './source-fields.ts';

type Shown = Readonly<Record<string, { label?: unknown; value?: unknown }>>;

/**
 * Decodes each custom field's value by its type. A value whose definition is gone is left out: the hiring platform
 * keeps such values, but nobody can correct them there.
 */
export function decodeCustomFields(sources: MappingSources, defined: readonly FieldDefinition[]): MappingSources {
  return Object.fromEntries(
    Object.entries(sources).map(([name, record]) => {
      if (record === undefined) return [name, record];
      const own = definedFor(name, defined);
      const nested = nestedLists.flatMap((list) => {
        const entries = record[list];
        return Array.isArray(entries) ? [[list, entries.map((entry: unknown) => decodeEntry(entry, own))]] : [];
      });
      return [name, { ...decodeEntry(record, own), ...Object.fromEntries(nested) }];
    }),
  );
}

const nestedLists: readonly string[] = sourceRecords.candidate.lists;

function decodeEntry<T>(entry: T, defined: readonly FieldDefinition[]): T {
  const shown = (entry as { customFields?: unknown } | null)?.customFields;
  return isShown(shown) ? { ...entry, customFields: decodeShown(shown, defined) } : entry;
}

/**
 * Whether the records themselves show that these definitions still hold: every field they show has the known id and
 * label, and all `wanted` fields are shown.
 */
export function areShown(
  sources: MappingSources,
  defined: readonly FieldDefinition[],
  wanted: readonly FieldDefinition[],
): boolean {
  const shown = Object.entries(sources).flatMap(([name, record]) => {
    const fields = record?.['customFields'];
    return isShown(fields) ? Object.entries(fields).map(([id, { label }]) => ({ name, id, label })) : [];
  });
  const isKnown = shown.every(({ name, id, label }) =>
    definedFor(name, defined).some((one) => one.id === id && one.label === label),
  );
  return isKnown && wanted.every(({ id }) => shown.some((one) => one.id === id));
}

/** A job candidate shows its candidate's fields (section 2.4). */
function definedFor(record: string, defined: readonly FieldDefinition[]): FieldDefinition[] {
  const entity = record === 'jobCandidate' ? 'candidate' : record;
  return defined.filter((one) => one.entity === entity);
}

function decodeShown(shown: Shown, defined: readonly FieldDefinition[]): Shown {
  const known = new Map(defined.map((one) => [one.id, one]));
  return Object.fromEntries(
    Object.entries(shown).flatMap(([id, field]) => {
      const definition = known.get(id);
      if (definition === undefined) return [];
      // The definition's label counts: a record that is read during a renaming may show another label.
      const { type, label } = definition;
      return [[id, { ...field, label, value: decodeValue(type, field.value) }]];
    }),
  );
}

function isShown(value: unknown): value is Shown {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((field) => typeof field === 'object' && field !== null)
  );
}

/** A custom field of the partner that a mapping names. */
export interface CustomFieldUse {
  /** As written in the file: `candidate.customFields[Start date]`, or a key of the tenant file. */
  path: string;
  entity: string;
  /** Its label or id. */
  wanted: string;
  /** Whether the tenant's own files name it; a field named only by a default mapping need not exist. */
  own: boolean;
}

/** Every custom field that the mappings read, each once. */
export function customFieldsRead(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields }) => fields);
}

/** Every custom field that the mappings read or write, each once. */
export function customFieldsMapped(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields, back }) => [...fields, ...back]);
}

function usesIn(mappings: readonly Mapping[], rulesOf: (mapping: Mapping) => Mapping['fields']): CustomFieldUse[] {
  const uses = new Map<string, CustomFieldUse>();
  for (const mapping of mappings)
    for (const field of rulesOf(mapping))
      for (const path of pathsRead(field)) {
        if (!('customField' in path)) continue;
        const own = Object.hasOwn(mapping.files, field.at.file) || uses.get(path.text)?.own === true;
        uses.set(path.text, { path: path.text, entity: path.source, wanted: path.customField, own });
      }
  return [...uses.values()];
}

/** Custom fields that the tenant file writes back to; the schema makes sure they are ids. */
export function customFieldsWritten({
  customField,
  employeeUrl,
  holdReason,
  values,
}: {
  customField?: string | undefined;
  employeeUrl?: string | undefined;
  holdReason?: string | undefined;
  values: ReadonlyArray<{ customFieldId: string }>;
}): CustomFieldUse[] {
  const named = Object.entries({ customField, employeeUrl, holdReason }).flatMap(([key, wanted]) =>
    wanted === undefined ? [] : [{ path: `writeBack.${key}`, wanted }],
  );
  const mapped = values.map(({ customFieldId }) => ({
    path: `writeBack.values[${customFieldId}]`,
    wanted: customFieldId,
  }));
  return [...named, ...mapped].map((use) => ({ ...use, entity: 'candidate', own: true }));
}

/** A custom field of the partner in the form in which it is stored. */
export function definitionOf(field: CustomField): FieldDefinition {
  const { id, entityType, fieldLabel, fieldType, parentSection, options } = field;
  return {
    id,
    entity: entityType,
    label: fieldLabel,
    type: fieldType,
    section: parentSection ?? null,
    options: options ?? null,
  };
}

/** A problem with a custom field that a mapping uses. */
export interface FieldTrouble {
  path: string;
  reason:
    | 'FIELD_UNKNOWN'
    | 'FIELD_AMBIGUOUS'
    | 'FIELD_RENAMED'
    | 'FIELD_DELETED'
    | 'FIELD_REPLACED'
    | 'FIELD_MOVED'
    | 'FIELD_OPTION_REMOVED';
  /** The problem, its cause and the next step; labels and ids only. */
  message: string;
  /** Whether a value read or written now could be wrong or lost. */
  blocks: boolean;
}

export interface MatchedFields {
  /** The definition that each path means now; a path with a problem keeps its earlier definition. */
  matches: Map<string, FieldDefinition>;
  troubles: FieldTrouble[];
}

type Known = ReadonlyMap<string, FieldDefinition>;

/**
 * Matches the names in mappings with the partner's definitions. An id matches by itself; a label must also keep the
 * section and type of the definition that it meant before. Pure.
 */
export function matchFields(
  uses: readonly CustomFieldUse[],
  defined: readonly FieldDefinition[],
  known: Known,
): MatchedFields {
  const matches = new Map<string, FieldDefinition>();
  const troubles: FieldTrouble[] = [];
  for (const use of uses) {
    const before = known.get(use.path);
    const found = matchOne(use, defined, before);
    if ('reason' in found) {
      troubles.push(found);
      if (before !== undefined) matches.set(use.path, before);
    } else if ('match' in found) {
      matches.set(use.path, withOptions(found.match, before));
      troubles.push(...removedOptions(use, found.match, before));
    }
  }
  return { matches, troubles };
}

type Found = { match: FieldDefinition } | FieldTrouble | { nothing: true };

function matchOne(
  use: CustomFieldUse,
  defined: readonly FieldDefinition[],
  before: FieldDefinition | undefined,
): Found {
  const own = defined.filter(({ entity }) => entity === use.entity);
  const byId = own.find(({ id }) => id === use.wanted);
  if (byId !== undefined) return { match: byId };
  const labelled = own.filter(({ label }) => foldLabel(label) === foldLabel(use.wanted));
  const [only] = labelled;
  if (only === undefined) return notFound(use, own, before);
  if (labelled.length > 1) return ambiguous(use, labelled);
  return before === undefined || only.id === before.id ? { match: only } : judgeSuccessor(use, only, before, own);
}

/** Another field has the label now. For a mapping it is the same field only if nothing but its id differs. */
function judgeSuccessor(
  use: CustomFieldUse,
  now: FieldDefinition,
  before: FieldDefinition,
  own: readonly FieldDefinition[],
): Found {
  const former = own.find(({ id }) => id === before.id);
  if (former !== undefined)
    return trouble(
      use,
      'FIELD_RENAMED',
      `Custom field ${before.id} is called "${former.label}" now, and another one (${now.id}) has its label. ` +
        `Write the id of the one that is meant into the mapping: ${withId(use, before.id)} or ${withId(use, now.id)}.`,
    );
  if (now.type !== before.type)
    return trouble(
      use,
      'FIELD_REPLACED',
      `It was deleted and created again with another type: ${before.type} before, ${now.type} now. Create it again ` +
        `as ${before.type}; or, if the new type is meant, correct the mapping and name it by its id: ` +
        `${withId(use, now.id)}.`,
    );
  if ((now.section ?? null) === (before.section ?? null)) return { match: now };
  return trouble(
    use,
    'FIELD_MOVED',
    `It was deleted, and a field of the same label stands in section ${now.section ?? 'none'} instead of ` +
      `${before.section ?? 'none'}. If that one is meant, write its id into the mapping: ${withId(use, now.id)}.`,
  );
}

function notFound(
  use: CustomFieldUse,
  own: readonly FieldDefinition[],
  before: FieldDefinition | undefined,
): FieldTrouble | { nothing: true } {
  const former = own.find(({ id }) => id === before?.id);
  if (former !== undefined)
    return trouble(
      use,
      'FIELD_RENAMED',
      `The hiring platform calls it "${former.label}" now. Rename it back; or, if it means the same, correct the ` +
        `mapping, best by its id: ${withId(use, former.id)}.`,
    );
  if (before !== undefined)
    return trouble(
      use,
      'FIELD_DELETED',
      `The hiring platform has no such ${use.entity} custom field any more. Create it again as ${before.type} in ` +
        `section ${before.section ?? 'none'}, or take it out of the mapping.`,
    );
  if (!use.own) return { nothing: true };
  const labels = own.map(({ label }) => label);
  const hint = labels.length === 0 ? 'It has none at all.' : didYouMean(use.wanted, labels);
  return trouble(
    use,
    'FIELD_UNKNOWN',
    `The hiring platform has no such ${use.entity} custom field. ${hint} Correct the mapping, or define it there.`,
  );
}

function ambiguous(use: CustomFieldUse, labelled: readonly FieldDefinition[]): FieldTrouble {
  const places = labelled.map(({ id, section, type }) => `${id} (${section ?? 'no section'}, ${type})`);
  return trouble(
    use,
    'FIELD_AMBIGUOUS',
    `${labelled.length} custom fields have that label: ${places.join(', ')}. Write the id of the one that is meant ` +
      'into the mapping.',
  );
}

/** A removed option does not stop its values from being read, but writing it would be refused. */
function removedOptions(
  use: CustomFieldUse,
  now: FieldDefinition,
  before: FieldDefinition | undefined,
): FieldTrouble[] {
  const gone = (before?.options ?? []).filter((option) => !(now.options ?? []).includes(option));
  if (before?.id !== now.id || gone.length === 0) return [];
  const what = gone.map((option) => `"${option}"`).join(', ');
  const text =
    `The hiring platform removed of its options: ${what}. People may still have them. Put them back ` +
    '(hirebridge discover TENANT --apply does), or accept the change with hirebridge discover TENANT --acknowledge.';
  return [{ ...trouble(use, 'FIELD_OPTION_REMOVED', text), blocks: false }];
}

/** Remembers options that a field once had, so that a removed option stays an alarm until somebody decides. */
function withOptions(now: FieldDefinition, before: FieldDefinition | undefined): FieldDefinition {
  if (before?.id !== now.id || !before.options?.length) return now;
  return { ...now, options: [...new Set([...before.options, ...(now.options ?? [])])] };
}

function trouble({ path }: CustomFieldUse, reason: FieldTrouble['reason'], text: string): FieldTrouble {
  return { path, reason, message: `${path}: ${text}`, blocks: true };
}

function withId({ entity }: CustomFieldUse, id: string): string {
  return `${entity}.customFields[${id}]`;
}

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
