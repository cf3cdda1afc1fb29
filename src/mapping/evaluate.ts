import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import { normalized } from '../in-words.ts';
import { applyTransforms, isEmpty, type TemplatePart, undoTransforms, type Value } from '../values/transforms.ts';

import type { CompiledCondition, CompiledField, TableColumn, TableRows } from './compile-rule.ts';
import { fitValue } from './fit-value.ts';
import type { Mapping } from './load-mapping.ts';
import { type MappingSources, readSource, type SourcePath } from './source-fields.ts';

/** Why a field has no value. `text` names fields, labels and the next step, never a person's value. */
export interface MappingProblem {
  field: string;
  code: string;
  text: string;
}

const indexes = new WeakMap<TableRows, Map<string, ReturnType<typeof indexRows>>>();

/**
 * Evaluates a mapping over one person's records. Pure. Leaves out optional fields without a value; any problem means
 * that the hire must wait.
 */
export function evaluateMapping(
  mapping: Mapping,
  sources: MappingSources,
): { fields: EmployeeFields; problems: MappingProblem[] } {
  const fields: EmployeeFields = {};
  const problems: MappingProblem[] = [];
  for (const field of mapping.fields) {
    const result = evaluateField(field, sources);
    if ('code' in result) problems.push({ field: field.target, ...result });
    else if (result.value !== undefined) fields[field.target] = result.value;
  }
  return { fields, problems };
}

type Result = { value: FieldValue | undefined } | Refusal;

export interface Refusal {
  code: string;
  text: string;
}

/** One step of a rule and its result. Values are personal data. */
export interface Step {
  step: 'when' | 'read' | 'template' | 'table' | 'lookup' | 'default' | 'constant' | `transform ${string}`;
  value: Value | undefined;
}

/** Evaluates one rule; adds what happened to `steps`. */
export function evaluateField(field: CompiledField, sources: MappingSources, steps?: Step[]): Result {
  const isMeant = applies(field, sources);
  if (typeof isMeant !== 'boolean') return isMeant;
  if (field.when.length > 0) steps?.push({ step: 'when', value: isMeant });
  if (!isMeant) return unless(field);
  if (field.constant !== undefined) {
    steps?.push({ step: 'constant', value: field.constant });
    return fitValue(field.def, field.constant, 'the constant');
  }
  const read = readAll(field, sources, steps);
  if ('code' in read) return read;
  const changed = transform(field, read, steps);
  if ('code' in changed) return changed;
  const named = lookUpRecord(field, changed, steps);
  if ('code' in named) return named;
  const looked = lookUp(field, named.value, steps);
  if (isEmpty(looked)) return absent(field, named.value);
  return fitValue(field.def, looked, field.source);
}

/** Whether a rule's conditions hold for these records. One that is false decides, also beside one that is unclear. */
export function applies({ when }: Pick<CompiledField, 'when'>, sources: MappingSources): boolean | Refusal {
  const held = when.map((one) => holds(one, sources));
  if (held.includes(false)) return false;
  return held.find((one) => typeof one !== 'boolean') ?? true;
}

/** If its conditions do not hold, a rule leaves its field out, unless the HR system requires the field. */
function unless({ target, def }: CompiledField): Result {
  if (!def.required) return { value: undefined };
  const text =
    `"${target}" is required by the HR system, and its rule does not apply to this record. Widen its conditions ` +
    '(when) in the mapping.';
  return { code: 'MISSING', text };
}

/** Whether a condition holds. A value that cannot be read is neither there nor absent. */
function holds({ path, values, present }: CompiledCondition, sources: MappingSources): boolean | Refusal {
  const read = readSource(path, sources);
  if ('code' in read) return read;
  const { value } = read;
  if (present !== undefined) return present !== isEmpty(value);
  const items = isEmpty(value) ? [] : [value].flat().map(composed);
  return values?.some((one) => items.includes(composed(one))) === true;
}

/** A letter with an accent is one character or two, and people see no difference. */
function composed(value: string | number | boolean): string {
  return normalized(String(value), 'NFC');
}

function readAll(
  field: CompiledField,
  sources: MappingSources,
  steps?: Step[],
): { value: Value | undefined } | Refusal {
  const [first] = field.from;
  if (first !== undefined && field.from.length === 1 && field.template === undefined)
    return readPath(first, sources, steps);
  const values: (Value | undefined)[] = [];
  for (const path of field.from) {
    const read = readPath(path, sources, steps);
    if ('code' in read) return read;
    values.push(read.value);
  }
  if (field.template !== undefined) {
    const value = fillTemplate(field.template, values);
    steps?.push({ step: 'template', value });
    return { value };
  }
  const found = values.filter((value) => value !== undefined);
  const items = found.flatMap((value) => (Array.isArray(value) ? value : [String(value)]));
  return { value: items.length === 0 ? undefined : items };
}

/** Reads one path; an empty value counts as none. */
function readPath(path: SourcePath, sources: MappingSources, steps?: Step[]): { value: Value | undefined } | Refusal {
  const read = readSource(path, sources);
  if ('code' in read) return read;
  steps?.push({ step: 'read', value: read.value });
  return isEmpty(read.value) ? NO_VALUE : read;
}

const NO_VALUE = { value: undefined };

/** Empty if one of its paths is empty: half a name or half an address is worse than none. */
function fillTemplate(template: readonly TemplatePart[], values: readonly (Value | undefined)[]): string | undefined {
  if (values.includes(undefined)) return undefined;
  const left = values.map((value) => [value].flat().join(', '));
  return template.map((part) => ('text' in part ? part.text : left.shift())).join('');
}

function transform(
  field: CompiledField,
  read: { value: Value | undefined },
  steps?: Step[],
): { value: Value | undefined } | Refusal {
  if (field.transforms.length === 0) return read;
  const onStep =
    steps && ((name: string, value: Value | undefined) => steps.push({ step: `transform ${name}`, value }));
  const done = applyTransforms(field.transforms, read.value, onStep);
  if (!('code' in done)) return done;
  const text =
    `${field.where} ${done.text}. Correct it in the hiring platform, or the rule of "${field.target}" in the ` +
    'mapping.';
  return { code: done.code, text };
}

/**
 * Looks up, in a table of the hiring platform, the record that the value names. A record missing there is a problem,
 * never left out.
 */
function lookUpRecord(
  { target, table, where }: CompiledField,
  changed: { value: Value | undefined },
  steps?: Step[],
): { value: Value | undefined } | Refusal {
  const { value } = changed;
  if (table === undefined || isEmpty(value)) return changed;
  const [row, ...others] = recordsOf(table, String(value));
  if (others.length > 0) {
    const text =
      `${where} names ${others.length + 1} records that the table ${table.name} of "${target}" holds by ` +
      `${table.by ?? 'id'}. Tell them apart in the hiring platform, or use a lookup.`;
    return { code: 'TWICE_IN_TABLE', text };
  }
  if (row === undefined) {
    const text =
      `${where} names a record that the table ${table.name} of "${target}" does not hold. Correct it in the hiring ` +
      `platform; if it is new there, read the table again: hirebridge sync TENANT ${table.name}`;
    return { code: 'NOT_IN_TABLE', text };
  }
  const [id, fields] = row;
  const found = table.field === 'id' ? id : (fields[table.field] ?? undefined);
  steps?.push({ step: 'table', value: found });
  return { value: found };
}

/** The records that a value names, by id or by a column, ignoring capitals. */
function recordsOf({ rows, by }: TableColumn, value: string): [id: string, fields: EmployeeFields][] {
  if (by !== undefined) return rows === undefined ? [] : (indexOf(rows, by).get(asKey(value)) ?? []);
  const fields = rows?.get(value);
  return fields === undefined ? [] : [[value, fields]];
}

function indexOf(rows: TableRows, by: string) {
  const known = indexes.get(rows) ?? new Map<string, ReturnType<typeof indexRows>>();
  const index = known.get(by) ?? indexRows(rows, by);
  indexes.set(rows, known.set(by, index));
  return index;
}

function indexRows(rows: TableRows, by: string) {
  const named = [...rows].filter(([, fields]) => (fields[by] ?? '') !== '');
  return Map.groupBy(named, ([, fields]) => asKey(String(fields[by])));
}

function asKey(text: string): string {
  return text.trim().toLowerCase();
}

function lookUp({ lookup, fallback, def }: CompiledField, value: Value | undefined, steps?: Step[]): Value | undefined {
  let found = isEmpty(value) ? undefined : value;
  if (lookup !== undefined && found !== undefined) {
    found = ofEach(found, (item) => entryOf(lookup, item) ?? (Array.isArray(value) ? fallback : undefined));
    // One choice of several is the value of a field that holds one.
    if (Array.isArray(found) && found.length === 1 && def.type !== 'list') [found] = found;
    steps?.push({ step: 'lookup', value: found });
  }
  if (!isEmpty(found) || fallback === undefined) return found;
  steps?.push({ step: 'default', value: fallback });
  return def.type === 'list' ? [String(fallback)] : fallback;
}

/** Looks a value up, or each item of a list; undefined if one of them is unknown. */
function ofEach(value: Value, find: (item: string) => Value | undefined): Value | undefined {
  if (!Array.isArray(value)) return find(String(value));
  const found = value.map(find);
  return found.includes(undefined) ? undefined : found.map(String);
}

function entryOf(lookup: NonNullable<CompiledField['lookup']>, value: string): string | number | boolean | undefined {
  if (Object.hasOwn(lookup, value)) return lookup[value];
  const key = Object.keys(lookup).find((one) => composed(one) === composed(value));
  return key === undefined ? undefined : lookup[key];
}

function absent(field: CompiledField, before: Value | undefined): Result {
  const { source } = field;
  if (!isEmpty(before))
    return {
      code: 'NOT_IN_LOOKUP',
      text:
        `${source} has a value that the lookup of "${field.target}" does not know. Add it to the mapping, or ` +
        'correct it in the hiring platform.',
    };
  if (!field.required) return { value: undefined };
  const where = source.startsWith('requisition.') ? 'HR system' : 'hiring platform';
  return { code: 'MISSING', text: `"${field.target}" is required and ${source} is empty. Fill it in the ${where}.` };
}

/** The value that one place at the partner should hold. */
export interface BackValue {
  field: string;
  path: SourcePath;
  value: Value;
}

/**
 * Applies the rules that flow to the partner backwards to a record of the HR system. Pure. An empty field leaves the
 * partner's value alone; any problem means that a person must look.
 */
export function evaluateBack(
  mapping: Mapping,
  record: Readonly<Record<string, FieldValue | undefined>>,
): { values: BackValue[]; problems: MappingProblem[] } {
  const values: BackValue[] = [];
  const problems: MappingProblem[] = [];
  for (const field of mapping.back) {
    const [path] = field.from;
    const value = record[field.target] ?? undefined;
    if (path === undefined || isEmpty(value)) continue;
    const result = valueBack(field, value);
    if ('code' in result) problems.push({ field: field.target, ...result });
    else if (result.value !== undefined) values.push({ field: field.target, path, value: result.value });
  }
  return { values, problems };
}

/** Applies one rule backwards: returns the partner's value from which the HR system gets this value. */
export function valueBack(
  { target, lookup, transforms }: CompiledField,
  value: Value,
): { value: Value | undefined } | Refusal {
  const known = lookup === undefined ? value : ofEach(value, (item) => keyOf(lookup, item));
  if (known === undefined)
    return {
      code: 'NOT_IN_LOOKUP',
      text: `"${target}" holds a value that its lookup does not give. Add it to the mapping, or correct it there.`,
    };
  const done = undoTransforms(transforms, known);
  if (!('code' in done)) return done;
  return {
    code: done.code,
    text: `"${target}" ${done.text}. Correct it in the HR system, or the rule in the mapping.`,
  };
}

/** Finds the lookup key; loading the file proved that there is only one. */
function keyOf(lookup: NonNullable<CompiledField['lookup']>, value: string): string | undefined {
  return Object.keys(lookup).find((key) => composed(lookup[key] ?? '') === composed(value));
}
