import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import { cleanEmail } from '../contract/email.ts';
import type { Overrides } from '../contract/overrides.ts';
import { issueText } from './issue-text.ts';
import type { AnyEndpoint, LooseInput } from './types.ts';
import { toWire } from './wire-names.ts';

export interface BuiltRequest {
  /** Relative to the base URL, query included. */
  path: string;
  body: string | undefined;
}

/**
 * Checks the input against the contract and makes path, query and body of it. E-mails are cleaned and ids written as
 * the specification has them; all else is sent as it was given. Error: `INVALID_INPUT`, naming record and fields, never
 * values.
 */
export function buildRequest(overrides: Overrides, endpoint: AnyEndpoint, given: LooseInput): BuiltRequest {
  const input = { ...given, body: asSent(endpoint.body, given.body) };
  const params = check(endpoint, 'params', input);
  check(endpoint, 'query', input);
  const noBody = endpoint.bodyOptional === true && input.body === undefined;
  if (!noBody) check(endpoint, 'body', input);
  // What was given is sent, not what the schema made of it: defaults are the partner's to set.
  const { query, body } = toWire(overrides, endpoint, input);
  const search = searchOf(query);
  return {
    path: fillPath(endpoint, params) + (search === '' ? '' : `?${search}`),
    body: endpoint.body === undefined || body === undefined ? undefined : JSON.stringify(body),
  };
}

function check(endpoint: AnyEndpoint, part: 'params' | 'query' | 'body', input: LooseInput): unknown {
  const schema: z.ZodType | undefined = endpoint[part];
  const value = input[part] ?? {};
  if (schema === undefined) {
    if (isEmpty(value)) return {};
    throw invalidInput(endpoint, `${part}: not taken by this call`);
  }
  const parsed = strictSchema(schema).safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    (issue) => `${[part, ...issue.path].join('.')}: ${issueText(issue)}${recordOf(input, part, issue.path)}`,
  );
  throw invalidInput(endpoint, faults.join('; '));
}

/** The ids that stand around the refused field, so that somebody can find the record. */
function recordOf(input: LooseInput, part: 'params' | 'query' | 'body', path: readonly PropertyKey[]): string {
  const around: unknown[] = [input.params];
  let at: unknown = input[part];
  for (const key of path) {
    around.push(at);
    at = (at as Record<PropertyKey, unknown> | null | undefined)?.[key];
  }
  const refused = path.at(-1);
  const ids = around.flatMap((fields) =>
    Object.entries(fields ?? {}).filter(([key, id]) => key !== refused && isIdOf(key, id)),
  );
  const texts = new Set(ids.map(([key, id]) => `${key} ${id}`));
  return texts.size === 0 ? '' : ` (${[...texts].join(', ')})`;
}

/** Only what looks like an id: a name or an address under such a key must not reach a message. */
function isIdOf(key: string, value: unknown): boolean {
  if (!/(^id|Id|^externalRef)$/.test(key)) return false;
  return typeof value === 'number' || (typeof value === 'string' && /^[\w:-]{1,64}$/.test(value));
}

export function invalidInput(endpoint: AnyEndpoint, what: string): ConnectorError {
  return new ConnectorError({
    code: 'INVALID_INPUT',
    action: 'reject',
    message: `${endpoint.id} was not sent, its input is against section ${endpoint.section}: ${what}.`,
    details: { operation: endpoint.id },
  });
}

function fillPath(endpoint: AnyEndpoint, params: unknown): string {
  const values = params as Record<string, unknown>;
  return endpoint.path.replace(/:(\w+)/g, (_whole, name: string) => {
    const value = values[name];
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
    // Such a segment would be taken for a step in the path by whatever stands in front of the partner.
    if (/^\.{0,2}$/.test(text)) throw invalidInput(endpoint, `params.${name}: not an id`);
    return encodeURIComponent(text);
  });
}

/** Arrays as comma lists, as section 4.3 has them; absent values are left out. */
function searchOf(query: unknown): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    search.append(key, Array.isArray(value) ? value.join(',') : String(value));
  }
  return search.toString();
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((entry) => entry === undefined);
}

/**
 * The same body as it goes over the wire: e-mails cleaned, and digits in text as numbers wherever the schema asks for
 * a number. Ids are text for callers and integers on the wire where the specification has them so (`"jobIds": [12]`).
 */
function asSent(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return asSent(schema.def.innerType as z.ZodType, value);
  if (typeof value === 'string') return textAsSent(schema, value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((entry) => asSent(schema.def.element as z.ZodType, entry));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const fields: Record<string, z.ZodType> = schema.def.shape;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, asSent(fields[key], field)]));
}

function textAsSent(schema: z.ZodType | undefined, text: string): unknown {
  if (schema instanceof z.ZodEmail) return cleanEmail(text);
  return schema instanceof z.ZodNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

const made = new WeakMap<z.ZodType, z.ZodType>();

/**
 * The schema with unknown keys refused at every depth: a misspelt key would be ignored by the partner and missed by us.
 * Objects that the contract leaves open on purpose stay open.
 */
function strictSchema(schema: z.ZodType): z.ZodType {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const strict = makeStrict(schema);
  made.set(schema, strict);
  return strict;
}

function makeStrict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.fromEntries(
      Object.entries(schema.def.shape).map(([key, field]) => [key, strictSchema(field as z.ZodType)]),
    );
    return schema.clone({ ...schema.def, shape, catchall: schema.def.catchall ?? z.never() });
  }
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: strictSchema(schema.def.element as z.ZodType) });
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return schema.clone({ ...schema.def, innerType: strictSchema(schema.def.innerType as z.ZodType) } as never);
  return schema;
}
