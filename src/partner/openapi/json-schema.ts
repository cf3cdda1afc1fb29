import { z } from 'zod';

export type Json = { [key: string]: unknown };

/** Shared schemas of the document: those with an id in the contract, each written once. */
export type Components = Map<string, Json>;

/**
 * JSON Schema 2020-12 of a contract schema; named parts go to `components` and are referred to.
 * `input` is what a caller writes, `output` what the service answers.
 * Error: two schemas of one name that differ.
 */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', components: Components): Json {
  const made = tidy(z.toJSONSchema(schema, { io, target: 'draft-2020-12' })) as Json;
  const { $schema: _dialect, $defs, ...own } = made;
  for (const [id, definition] of Object.entries(($defs ?? {}) as Json))
    addComponent(components, id, definition as Json);
  return own;
}

function addComponent(components: Components, id: string, definition: Json): void {
  const known = components.get(id);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition))
    throw new Error(`Two different schemas are called ${id}: give one of them another id in the contract.`);
  components.set(id, definition);
}

/**
 * Refers to components instead of $defs and leaves out the bounds of safe integers, which are zod's and not the spec's.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => !(Math.abs(Number(entry)) === Number.MAX_SAFE_INTEGER && /^(min|max)imum$/.test(key)))
    .filter(([key]) => key !== 'id' || !('$id' in value))
    .map(([key, entry]) => [key, key === '$ref' ? componentRef(String(entry)) : tidy(entry)]);
  return Object.fromEntries(entries);
}

function componentRef(ref: string): string {
  return ref.replace('#/$defs/', '#/components/schemas/');
}
