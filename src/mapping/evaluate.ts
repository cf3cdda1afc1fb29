import type { EmployeeFields, FieldValue } from '../hire/employee.ts';
import type { FieldDef } from '../hris/port.ts';
import type { CompiledField, Mapping } from './load-mapping.ts';
import { type MappingSources, readSource } from './read-source.ts';
import { type Transform, transforms, type Value } from './transforms.ts';

/** Why a field has no value. `text` names fields, labels and the next step, never a person's value. */
export interface MappingProblem {
  field: string;
  code: string;
  text: string;
}

/**
 * Evaluates a mapping over one person's records. Pure. Optional fields without a value are left out; any problem means
 * the hire must wait.
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

type Result = { value: FieldValue | undefined } | { code: string; text: string };

function evaluateField(field: CompiledField, sources: MappingSources): Result {
  if (field.constant !== undefined) return fit(field.def, field.constant, 'the constant');
  const where = field.from.map((path) => path.text).join(' and ');
  const read = readAll(field, sources);
  if ('code' in read) return read;
  const changed = transform(field, read.value, where);
  if ('code' in changed) return changed;
  const looked = lookUp(field, changed.value);
  if (isEmpty(looked)) return absent(field, changed.value, where);
  return fit(field.def, looked, where);
}

function readAll(
  field: CompiledField,
  sources: MappingSources,
): { value: Value | undefined } | { code: string; text: string } {
  const values: Value[] = [];
  for (const path of field.from) {
    const read = readSource(path, sources);
    if ('code' in read) return read;
    if (!isEmpty(read.value)) values.push(read.value);
  }
  if (field.from.length <= 1) return { value: values[0] };
  return {
    value:
      values.length === 0 ? undefined : values.flatMap((value) => (Array.isArray(value) ? value : [String(value)])),
  };
}

function transform(
  field: CompiledField,
  start: Value | undefined,
  where: string,
): { value: Value | undefined } | { code: string; text: string } {
  let value = start;
  for (const { name, option } of field.transforms) {
    if (isEmpty(value)) return { value: undefined };
    const done = (transforms[name] as Transform)(value, option);
    if ('code' in done)
      return {
        code: done.code,
        text:
          `${where} ${done.text}. Correct it in the hiring platform, or the rule of "${field.target}" in the ` +
          'mapping.',
      };
    value = done.value;
  }
  return { value };
}

function lookUp(field: CompiledField, value: Value | undefined): Value | undefined {
  if (!field.lookup || isEmpty(value)) return isEmpty(value) ? field.fallback : value;
  const key = String(value);
  return Object.hasOwn(field.lookup, key) ? field.lookup[key] : field.fallback;
}

function absent(field: CompiledField, before: Value | undefined, where: string): Result {
  if (!isEmpty(before))
    return {
      code: 'NOT_IN_LOOKUP',
      text:
        `${where} has a value that the lookup of "${field.target}" does not know. Add it to the mapping, or ` +
        'correct it in the hiring platform.',
    };
  if (!field.required) return { value: undefined };
  return {
    code: 'MISSING',
    text: `"${field.target}" is required and ${where} is empty. Fill it in the hiring platform.`,
  };
}

/** The value in the type the HR system wants, or why not. */
function fit(def: FieldDef, value: Value, where: string): Result {
  const fitted = FIT[def.type](value);
  if (fitted === undefined)
    return {
      code: 'WRONG_TYPE',
      text:
        `${where} does not give ${KIND[def.type]} for "${def.key}". Add a transform to the mapping, or correct ` +
        'the value in the hiring platform.',
    };
  const unknown = def.options && [fitted].flat().some((one) => !def.options?.includes(String(one)));
  return unknown
    ? {
        code: 'NOT_AN_OPTION',
        text: `${where} gives a value that "${def.key}" does not accept in the HR system. Add a lookup to the mapping.`,
      }
    : { value: fitted };
}

const KIND = {
  text: 'text',
  number: 'a number',
  date: 'a day as YYYY-MM-DD',
  boolean: 'true or false',
  list: 'a list',
};

const FIT: Record<FieldDef['type'], (value: Value) => FieldValue | undefined> = {
  text: (value) => (Array.isArray(value) ? undefined : String(value)),
  number: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  date: (value) => (typeof value === 'string' && isDay(value) ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  list: (value) => (Array.isArray(value) ? value : undefined),
};

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function isEmpty(value: Value | undefined): value is undefined {
  return (
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  );
}
