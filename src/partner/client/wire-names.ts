import type { Overrides } from '../contract/overrides.ts';
import type { AnyEndpoint, LooseInput } from './types.ts';

type Fields = Record<string, unknown>;

/** The input under the names this tenant's partner uses; checked before under the contract's names. */
export function toWire(overrides: Overrides, endpoint: AnyEndpoint, input: LooseInput): LooseInput {
  const names = overrides.queryNames[endpoint.id];
  const query = names === undefined || !isFields(input.query) ? input.query : renamed(input.query, names);
  const change = bodyChanges[endpoint.id];
  return { ...input, query, body: change === undefined ? input.body : change(overrides, input.body) };
}

/** A parsed success body under the contract's names. */
export function fromWire(overrides: Overrides, endpoint: AnyEndpoint, body: unknown): unknown {
  if (!externalStatusEndpoints.has(endpoint.id) || !isFields(body) || !isFields(body['data'])) return body;
  const externalStatus = externalStatusOf(overrides, body['data']);
  return externalStatus === undefined ? body : { ...body, data: { ...body['data'], externalStatus } };
}

/**
 * "Returned by Get" (section 4.9, O12) may mean an object, where the tenant says or under `externalStatus`, or fields
 * beside the others. Each is read, under this partner's names and ours.
 */
function externalStatusOf(
  { externalStatusAt, externalStatusBody: names }: Overrides,
  data: Fields,
): Fields | undefined {
  const places = [fieldAt(data, externalStatusAt), data['externalStatus']];
  const nested = places.find(isFields);
  if (nested !== undefined)
    return {
      ...nested,
      status: nested[names.status] ?? nested['status'],
      employeeId: nested[names.employeeId] ?? nested['employeeId'],
    };
  const employeeId = data[names.employeeId] ?? data['employeeId'];
  const status = places.find(isShown) ?? data[names.status] ?? data['status'];
  // A `status` alone may be the record's own.
  return isShown(employeeId) || places.some(isShown) ? { status, employeeId } : undefined;
}

function isShown(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const externalStatusEndpoints = new Set(['onboarding.getCandidate', 'onboarding.setExternalStatus']);

const bodyChanges: Record<string, (overrides: Overrides, body: unknown) => unknown> = {
  'onboarding.setExternalStatus': (overrides, body) => renamed(body as Fields, overrides.externalStatusBody),
  'onboarding.terminate': (overrides, body) => {
    if (overrides.terminateReason === null || !isFields(body)) return undefined;
    return renamed(body, { reason: overrides.terminateReason });
  },
  'customFieldValues.upsertBulk': (overrides, body) =>
    overrides.valuesBulkKey === null ? body : { [overrides.valuesBulkKey]: body },
};

function renamed(fields: Fields, names: Record<string, string>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [names[key] ?? key, value]));
}

function fieldAt(fields: unknown, path: string): unknown {
  return path.split('.').reduce((value, key) => (isFields(value) ? value[key] : undefined), fields);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
