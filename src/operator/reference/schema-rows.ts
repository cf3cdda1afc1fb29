import type { z } from 'zod';

/** One key of a file, as its schema has it. */
export interface SchemaRow {
  key: string;
  takes: string;
  /** Undefined where there is none. */
  default?: string;
  required: boolean;
}

type Schema = z.core.$ZodType;
interface Def {
  type: string;
  innerType?: Schema;
  defaultValue?: unknown;
  in?: Schema;
  out?: Schema;
  shape?: Record<string, Schema>;
  element?: Schema;
  valueType?: Schema;
  options?: Schema[];
  entries?: Record<string, unknown>;
  values?: unknown[];
}

interface Unwrapped {
  def: Def;
  fallback?: unknown;
  isOptional: boolean;
}

/** Every key that an object schema takes, in its order, nested ones with their path. */
export function schemaRows(schema: Schema, path = ''): SchemaRow[] {
  return Object.entries(unwrap(schema).def.shape ?? {}).flatMap(([name, inner]) =>
    keyRows(path === '' ? name : `${path}.${name}`, inner),
  );
}

function keyRows(key: string, schema: Schema): SchemaRow[] {
  const { def, fallback, isOptional } = unwrap(schema);
  const parts = (def.options ?? []).filter((option) => unwrap(option).def.type === 'object');
  const inside = def.type === 'object' ? [schema] : parts;
  const list = def.element ?? def.valueType;
  const below = list === undefined ? [] : [list];
  const nested = [
    ...inside.flatMap((part) => schemaRows(part, key)),
    ...below.flatMap((part) => schemaRows(part, def.type === 'array' ? `${key}[]` : `${key}.NAME`)),
  ];
  if (def.type === 'object' && nested.length > 0) return nested;
  const isPlain = typeof fallback !== 'object' || Array.isArray(fallback) || nested.length === 0;
  const shown = fallback === undefined || !isPlain ? {} : { default: defaultText(def, fallback) };
  return [{ key, takes: takes(schema), required: !isOptional, ...shown }, ...nested];
}

function unwrap(schema: Schema): Unwrapped {
  const def = schema._zod.def as unknown as Def;
  if (def.type === 'default' || def.type === 'prefault')
    return { fallback: def.defaultValue, ...only(def.innerType), isOptional: true };
  if (def.type === 'optional') return { ...only(def.innerType), isOptional: true };
  if (def.type === 'nullable') return only(def.innerType);
  if (def.type === 'pipe') return only((def.in?._zod.def as Def | undefined)?.type === 'transform' ? def.out : def.in);
  return { def, isOptional: false };
}

function only(schema: Schema | undefined): Unwrapped {
  return schema === undefined ? { def: { type: 'any' }, isOptional: true } : unwrap(schema);
}

const WORDS: Record<string, string> = {
  string: 'text',
  template_literal: 'text',
  boolean: 'true or false',
  object: 'keys below',
  any: 'anything',
};

function takes(schema: Schema): string {
  const { def } = unwrap(schema);
  if (def.type === 'enum')
    return Object.values(def.entries ?? {})
      .map(String)
      .join(', ');
  if (def.type === 'literal') return (def.values ?? []).map(String).join(', ');
  if (def.type === 'union') return (def.options ?? []).map(takes).join(' or ');
  if (def.type === 'array') return `list of ${def.element === undefined ? 'anything' : takes(def.element)}`;
  if (def.type === 'record') return `names with ${def.valueType === undefined ? 'anything' : takes(def.valueType)}`;
  return WORDS[def.type] ?? def.type;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** A duration is written as text and kept as milliseconds. */
function defaultText(def: Def, value: unknown): string {
  if (def.type !== 'string' || typeof value !== 'number') return JSON.stringify(value);
  const [size, unit] = UNITS.find(([length]) => value >= length && value % length === 0) ?? [1, 'ms'];
  return `${value / size}${unit}`;
}
