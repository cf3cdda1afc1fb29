import type { Readings } from '../contract/overrides.ts';
import type { LooseInput } from './build-request.ts';
import type { AnyEndpoint } from './types.ts';

type Fields = Record<string, unknown>;

/** The input under the names this tenant's partner uses; checked before under the contract's names. */
export function toWire(readings: Readings, endpoint: AnyEndpoint, input: LooseInput): LooseInput {
  const names = readings.queryNames[endpoint.id];
  const query = names === undefined || !isFields(input.query) ? input.query : renamed(input.query, names);
  const change = bodyChanges[endpoint.id];
  return { ...input, query, body: change === undefined ? input.body : change(readings, input.body) };
}

/** A parsed success body under the contract's names. */
export function fromWire(readings: Readings, endpoint: AnyEndpoint, body: unknown): unknown {
  if (!externalStatusEndpoints.has(endpoint.id) || !isFields(body) || !isFields(body['data'])) return body;
  const found = fieldAt(body['data'], readings.externalStatusAt);
  if (!isFields(found)) return body;
  const { status, employeeId } = readings.externalStatusBody;
  const externalStatus = { ...found, status: found[status], employeeId: found[employeeId] };
  return { ...body, data: { ...body['data'], externalStatus } };
}

const externalStatusEndpoints = new Set(['onboarding.getCandidate', 'onboarding.setExternalStatus']);

const bodyChanges: Record<string, (readings: Readings, body: unknown) => unknown> = {
  'onboarding.setExternalStatus': (readings, body) => renamed(body as Fields, readings.externalStatusBody),
  'onboarding.terminate': (readings, body) => {
    if (readings.terminateReason === null || !isFields(body)) return undefined;
    return renamed(body, { reason: readings.terminateReason });
  },
  'customFieldValues.upsertBulk': (readings, body) =>
    readings.valuesBulkKey === null ? body : { [readings.valuesBulkKey]: body },
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
