import type { z } from 'zod';
import type { AnyEndpoint } from '../partner/contract/index.ts';
import { ApiError, invalidRequest, WorkspaceError } from './errors.ts';

/**
 * What arrived against the contract's schema. The code of the refusal is the one the endpoint names for that field (a
 * bad perPage is INVALID_PER_PAGE), INVALID_REQUEST otherwise; details map the dotted path of a field to what is wrong
 * (G15).
 */
export function parseWith(endpoint: AnyEndpoint, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details: Record<string, string> = {};
  for (const issue of result.error.issues) for (const path of pathsOf(issue)) details[dotted(path)] ??= issue.message;
  const [first = ''] = Object.keys(details);
  const named = endpoint.errors.find((error) => error.field !== undefined && error.field === first);
  const message = result.error.issues[0]?.message ?? 'Invalid request';
  // Users and teams refuse in a flat body (G4, assumed).
  if (endpoint.errors.some((error) => error.shape === 'workspace'))
    throw new WorkspaceError('INVALID_REQUEST', message);
  if (named === undefined) throw invalidRequest(message, details);
  throw new ApiError({ status: named.status, code: named.code, type: named.type, message, details });
}

/** What an issue is about: each unknown key by its own name, and the body itself where it is no field. */
function pathsOf(issue: z.core.$ZodIssue): PropertyKey[][] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...issue.path, key]);
  return [issue.path.length === 0 ? ['body'] : issue.path];
}

/** `candidates[3].email`. */
function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

/** The query of a URL; a repeated name is one comma list. */
export function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === '__proto__') continue;
    query[name] = Object.hasOwn(query, name) ? `${query[name] ?? ''},${value}` : value;
  }
  return query;
}

/** The JSON of a body; undefined for an empty one. */
export function readJson(body: string | undefined): unknown {
  if (body === undefined || body.trim() === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    throw invalidRequest('The body is not valid JSON');
  }
}
