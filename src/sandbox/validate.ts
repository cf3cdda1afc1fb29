import type { z } from 'zod';
import type { AnyEndpoint } from '../partner/contract/index.ts';
import { ApiError, invalidRequest, WorkspaceError } from './errors.ts';
import { issuePaths, issueSentence, issueWords } from './issue-words.ts';

/**
 * What arrived against the contract's schema. The code of the refusal is the one the endpoint names for that field (a
 * bad perPage is INVALID_PER_PAGE), INVALID_REQUEST otherwise; details map the dotted path of a field to what is wrong
 * (G15).
 */
export function parseWith(endpoint: AnyEndpoint, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const told = issues.flatMap((issue) => issuePaths(issue).map((path) => [path, issueWords(issue)] as const));
  // The first word on a field stands.
  const details = Object.fromEntries(told.toReversed());
  const [first = ''] = told[0] ?? [];
  const named = endpoint.errors.find((error) => error.field !== undefined && error.field === first);
  const message = issues[0] === undefined ? 'Invalid request' : messageOf(issues[0]);
  // Users and teams refuse in a flat body, which has no details (G4, assumed).
  if (endpoint.errors.some((error) => error.shape === 'workspace'))
    throw new WorkspaceError('INVALID_REQUEST', message);
  if (named === undefined) throw invalidRequest(message, details);
  throw new ApiError({ status: named.status, code: named.code, type: named.type, message, details });
}

/** A stage type that is not valid is told in the words of section 7, everything else with its field. */
function messageOf(issue: z.core.$ZodIssue): string {
  const words = issueWords(issue);
  return words === 'Stage type is not valid' ? words : issueSentence(issue);
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
