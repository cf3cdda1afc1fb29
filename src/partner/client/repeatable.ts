import type { AnyEndpoint } from './types.ts';

const repeatableMethods = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);
/** Against its method: whether steps sent twice are appended twice is left open (L2). */
const notRepeatable = new Set(['assessmentFlows.update']);
/** POSTs that set a value on its full key (section 2.5). */
const upserts = new Set(['customFieldValues.upsert', 'customFieldValues.upsertBulk']);

/**
 * True where doing it twice is as good as once, so that a lost answer means `retry` and not `unknown`. The calls that
 * may be split (bulk fetches and upserts) are of this kind; what costs a credit never is.
 */
export function isRepeatable(endpoint: AnyEndpoint): boolean {
  if (endpoint.costsCredit === true || notRepeatable.has(endpoint.id)) return false;
  return repeatableMethods.has(endpoint.method) || endpoint.chunk !== undefined || upserts.has(endpoint.id);
}

/** True for whatever changes something at the partner; a POST that fetches many records by id does not. */
export function isWrite(endpoint: AnyEndpoint): boolean {
  return endpoint.method !== 'GET' && (endpoint.chunk === undefined || upserts.has(endpoint.id));
}
