import { type AnyEndpoint, allEndpoints } from '../partner/contract/index.ts';

/** Section 9: the version is in the path. */
export const BASE_PATH = '/v1/partner';

export interface Route {
  endpoint: AnyEndpoint;
  params: Record<string, string>;
}

interface Pattern {
  endpoint: AnyEndpoint;
  segments: string[];
}

/**
 * Finds the endpoint of a method and path; a written segment wins over a parameter (`/candidates/list` over
 * `/candidates/:id`).
 */
export function createRouter(): (method: string, path: string) => Route | undefined {
  const patterns = new Map<string, Pattern[]>();
  for (const endpoint of allEndpoints()) {
    const segments = endpoint.path.slice(1).split('/');
    const key = `${endpoint.method} ${String(segments.length)}`;
    patterns.set(key, [...(patterns.get(key) ?? []), { endpoint, segments }]);
  }
  for (const list of patterns.values()) list.sort((a, b) => parameters(a) - parameters(b));
  return (method, path) => {
    const segments = path.slice(1).split('/');
    for (const pattern of patterns.get(`${method} ${String(segments.length)}`) ?? []) {
      const params = match(pattern.segments, segments);
      if (params !== undefined) return { endpoint: pattern.endpoint, params };
    }
    return undefined;
  };
}

function parameters(pattern: Pattern): number {
  return pattern.segments.filter((segment) => segment.startsWith(':')).length;
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] ?? '';
    if (expected.startsWith(':')) {
      if (actual === '') return undefined;
      params[expected.slice(1)] = decoded(actual);
    } else if (expected !== actual) return undefined;
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
