import { z } from 'zod';

/** Stands for whatever the schema refuses. */
export const UNFIT = Symbol('unfit');

/** What a schema makes of a value that was JSON, or UNFIT. What is right as it came is not copied. */
export type Reader = (value: unknown) => unknown;

type Schema = z.core.$ZodTypes;

/**
 * A schema as plain functions, a fifth of zod's time for a candidate. They know what records are made of; any other
 * part of a schema is left to zod, and so is saying why a value is unfit.
 */
export function compileReader(of: z.core.$ZodType): Reader {
  const schema = of as Schema;
  return compile(schema) ?? askZod(schema);
}

function askZod(schema: Schema): Reader {
  return (value) => {
    const parsed = z.safeParse(schema, value);
    return parsed.success ? parsed.data : UNFIT;
  };
}

function compile(schema: Schema): Reader | undefined {
  const { def } = schema._zod;
  if (def.type === 'string') return textReader(def);
  if (def.type === 'pipe') return pipeReader(def);
  if (def.type === 'object') return objectReader(def, askZod(schema));
  if (hasRules(def)) return undefined;
  if (def.type === 'nullable') return except(null, compileReader(def.innerType));
  if (def.type === 'optional') return mayBeAbsent(schema) ? except(undefined, compileReader(def.innerType)) : undefined;
  if (def.type === 'unknown') return (value) => value;
  if (def.type === 'number') return (value) => (Number.isFinite(value) ? value : UNFIT);
  if (def.type === 'boolean') return (value) => (typeof value === 'boolean' ? value : UNFIT);
  if (def.type === 'array') return listReader(compileReader(def.element));
  return def.type === 'union' && def.inclusive !== false ? unionReader(def.options.map(compileReader)) : undefined;
}

/** Nothing is made of what is absent, as a default would. */
function mayBeAbsent(schema: Schema): boolean {
  const { def } = schema._zod;
  return def.type === 'optional' && !hasRules(def) && askZod(schema)(undefined) === undefined;
}

/** Rules beyond the type. */
function hasRules(def: z.core.$ZodTypeDef): boolean {
  return (def.checks ?? []).length > 0 || 'format' in def || 'coerce' in def;
}

/** Texts with the rules that ids have; others have forms of their own. */
function textReader(def: z.core.$ZodStringDef): Reader | undefined {
  const rules = (def.checks ?? []).map(({ _zod }) => ruleOf(_zod.def));
  if (rules.includes(undefined) || 'format' in def || 'coerce' in def) return undefined;
  if (rules.length === 0) return (value) => (typeof value === 'string' ? value : UNFIT);
  return (value) => (typeof value === 'string' && rules.every((rule) => rule?.(value) === true) ? value : UNFIT);
}

function ruleOf(def: Partial<Rule> & { check: string }): ((text: string) => boolean) | undefined {
  const { check, minimum, fn } = def;
  if (check === 'min_length' && minimum !== undefined) return (text) => text.length >= minimum;
  return check === 'custom' && fn !== undefined ? (text) => Boolean(fn(text)) : undefined;
}

interface Rule {
  /** Of `.min()`. */
  minimum: number;
  /** Of `.refine()`. */
  fn: (text: string) => unknown;
}

function except(alone: null | undefined, read: Reader): Reader {
  return (value) => (value === alone ? alone : read(value));
}

function unionReader(readers: readonly Reader[]): Reader {
  return (value) => {
    for (const read of readers) {
      const one = read(value);
      if (one !== UNFIT) return one;
    }
    return UNFIT;
  };
}

function listReader(readItem: Reader): Reader {
  return (value) => {
    if (!Array.isArray(value)) return UNFIT;
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const item = readItem(value[index]);
      if (item === UNFIT) return UNFIT;
      if (item !== value[index]) (copy ??= [...(value as unknown[])])[index] = item;
    }
    return copy ?? value;
  };
}

/** Only objects that keep fields they do not know. */
function objectReader(def: z.core.$ZodObjectDef, ask: Reader): Reader | undefined {
  const keepsOthers = def.catchall?._zod.def.type === 'unknown';
  if (!keepsOthers || hasRules(def)) return undefined;
  const fields = Object.entries(def.shape).map(([name, schema]) => {
    return { name, isOptional: mayBeAbsent(schema as Schema), read: compileReader(schema) };
  });
  return (value) => {
    if (!isRecord(value)) return UNFIT;
    // Zod leaves this one out.
    if (Object.hasOwn(value, '__proto__')) return ask(value);
    let copy: Record<string, unknown> | undefined;
    for (const { name, isOptional, read } of fields) {
      const field = value[name];
      if (field === undefined && isOptional) continue;
      // Whether a field may be absent is not what its own schema says.
      const one = field === undefined ? UNFIT : read(field);
      if (one === UNFIT) return field === undefined ? ask(value) : UNFIT;
      if (one !== field) (copy ??= { ...value })[name] = one;
    }
    return copy ?? value;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `z.preprocess`, where the function only makes another value of it. */
function pipeReader(def: z.core.$ZodPipeDef): Reader | undefined {
  const before = (def.in as Schema)._zod.def;
  if (before.type !== 'transform' || before.transform.length > 1 || hasRules(def)) return undefined;
  const change = before.transform as (value: unknown) => unknown;
  const read = compileReader(def.out);
  return (value) => read(change(value));
}
