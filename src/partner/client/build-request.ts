import type { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import type { Overrides } from '../contract/overrides.ts';
import { asSent } from './as-sent.ts';
import { issueText } from './issue-text.ts';
import { strictSchema } from './strict-schema.ts';
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
