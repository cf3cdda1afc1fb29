import type { Overrides } from '../contract/overrides.ts';
import type { LooseInput } from './build-request.ts';
import type { AnyEndpoint } from './types.ts';

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
  const found = fieldAt(body['data'], overrides.externalStatusAt);
  if (!isFields(found)) return body;
  const { status, employeeId } = overrides.externalStatusBody;
  const externalStatus = { ...found, status: found[status], employeeId: found[employeeId] };
  return { ...body, data: { ...body['data'], externalStatus } };
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
