import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { z } from 'zod';
import { type ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { type HttpAnswer, readRetryAfter } from '../../http/http-error.ts';
import { type HttpPool, openPool } from '../../http/pool.ts';
import { sendRequest } from '../../http/request.ts';
import {
  acquirePermit,
  type Priority,
  type RateLimitKeeper,
  sendOnPermit,
  unlimited,
} from '../../rate-limit/rate-limit.ts';
import type { Overrides } from '../contract/assumptions.ts';
import { isTooLarge } from '../contract/shapes.ts';
import {
  type AskedCall,
  isRepeatable,
  issueText,
  isUpsert,
  isWrite,
  readAnswer,
  underOurNames,
} from './read-answer.ts';
import type { AnyEndpoint, Around, CallOptions, CallReport, LooseInput, PartnerClientOptions } from './types.ts';

/** Calls an endpoint once. Returns the whole success body, or the result of `read`, or throws a ConnectorError. */
export type CallEndpoint = (
  endpoint: AnyEndpoint,
  input?: LooseInput,
  options?: CallOptions,
  read?: ReadAnswer,
) => Promise<unknown>;

type ReadAnswer = (call: AskedCall, answer: HttpAnswer) => unknown;

const DEFAULT_CONCURRENCY = 16;

interface Connection {
  pool: HttpPool;
  basePath: string;
  apiKey: string;
  overrides: Overrides;
  rateLimit: RateLimitKeeper;
  onCall: ((report: CallReport) => void) | undefined;
  onObserved: PartnerClientOptions['onObserved'];
  around: Around;
  beforeWrite: (() => Promise<void>) | undefined;
  cancellation: () => AbortSignal | undefined;
  /** How this partner takes the ids of those whose values are set. */
  entityIds: { form: EntityIds; isTaken: boolean };
}

type EntityIds = 'text' | 'number';

/** One partner account: its connections, its queues, its rate limit. */
export function createCaller(
  options: PartnerClientOptions,
  overrides: Overrides,
): { call: CallEndpoint; close: () => Promise<void> } {
  const concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
  const pool = openPool(options.baseUrl, {
    allowPrivate: options.allowPrivate,
    timeouts: options.timeouts,
    connections: concurrency * 2,
    dispatcher: options.dispatcher,
  });
  const basePath = new URL(options.baseUrl).pathname.replace(/\/+$/, '');
  const connection: Connection = {
    pool,
    basePath,
    apiKey: options.apiKey,
    overrides,
    rateLimit: options.rateLimit ?? unlimited,
    onCall: options.onCall,
    onObserved: options.onObserved,
    around: options.around ?? ((_operation, run) => run()),
    beforeWrite: options.beforeWrite,
    cancellation: options.cancellation ?? (() => undefined),
    entityIds: { form: 'text', isTaken: false },
  };
  // A queue for each priority, so that a live call never waits behind bulk calls that wait for the rate limit.
  const queues: Record<Priority, ReturnType<typeof pLimit>> = {
    live: pLimit(concurrency),
    bulk: pLimit(concurrency),
  };
  return {
    call: (endpoint, input = {}, callOptions = {}, read = readAnswer) => {
      const priority = callOptions.priority ?? 'bulk';
      return reported(connection, endpoint, priority, (requestId) => {
        const send = () => callOnce(connection, { endpoint, input, priority, requestId, read }, callOptions);
        return queues[priority](() => connection.around(endpoint.id, send));
      });
    },
    close: () => pool.close(),
  };
}

interface Asked {
  endpoint: AnyEndpoint;
  input: LooseInput;
  priority: Priority;
  requestId: string;
  read: ReadAnswer;
}

/**
 * Sends the call. The form of an entityId is not shown (F13, G17): where text is refused, a number is sent, and the
 * other way round, until this partner has taken one of them.
 */
async function callOnce(
  connection: Connection,
  asked: Asked,
  options: CallOptions,
): Promise<{ status: number; body: unknown }> {
  if (!isUpsert(asked.endpoint)) return sendOnce(connection, asked, options);
  const { form, isTaken } = connection.entityIds;
  const sendAs = async (entityIds: EntityIds) => {
    const body = withEntityIds(asked.input.body, entityIds);
    const answered = await sendOnce(connection, { ...asked, input: { ...asked.input, body } }, options);
    connection.entityIds = { form: entityIds, isTaken: true };
    return answered;
  };
  try {
    return await sendAs(form);
  } catch (error) {
    if (isTaken || clears(asked.input.body) || !isPerhapsEntityId(error)) throw error;
    return sendAs(form === 'text' ? 'number' : 'text');
  }
}

/** A value of null may be refused for itself (F11). */
function clears(body: unknown): boolean {
  return [body].flat().some((entry) => (entry as Fields)['value'] === null);
}

function isPerhapsEntityId(error: unknown): boolean {
  if (!isConnectorError(error) || error.status !== 400) return false;
  const fields = error.details?.['fields'] as readonly string[] | undefined;
  return fields?.some((name) => name.endsWith('ntityId')) ?? true;
}

const numbered: ReadonlySet<string> = new Set(['entityId', 'parentEntityId']);

function withEntityIds(body: unknown, form: EntityIds): unknown {
  if (form === 'text') return body;
  if (Array.isArray(body)) return body.map((entry) => withEntityIds(entry, form));
  const asNumber = (value: unknown) => (/^\d+$/.test(String(value)) && !isTooLarge(value) ? Number(value) : value);
  return Object.fromEntries(
    Object.entries(body as Fields).map(([key, value]) => [key, numbered.has(key) ? asNumber(value) : value]),
  );
}

async function sendOnce(
  connection: Connection,
  { endpoint, input, priority, requestId, read }: Asked,
  options: CallOptions,
): Promise<{ status: number; body: unknown }> {
  const { pool, overrides, onObserved, rateLimit, beforeWrite } = connection;
  const request = buildRequest(overrides, endpoint, input);
  const idempotent = isRepeatable(endpoint);
  const signal = options.signal ?? (idempotent ? connection.cancellation() : undefined);
  const send = async (): Promise<HttpAnswer> => {
    if (isWrite(endpoint)) await beforeWrite?.();
    await options.beforeWrite?.();
    return sendRequest(pool, {
      method: endpoint.method,
      path: connection.basePath + request.path,
      headers: {
        authorization: `Bearer ${connection.apiKey}`,
        accept: 'application/json',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.body,
      requestId,
      idempotent,
      signal,
      beforeSend: options.beforeSend,
      timeouts: options.timeouts,
    });
  };
  await acquirePermit(rateLimit, { priority, signal, what: endpoint.id, requestId, endpoint: endpoint.id });
  const retryAfterOf = ({ headers, endedAt }: HttpAnswer): number | undefined => readRetryAfter(headers, endedAt);
  const answer = await sendOnPermit(rateLimit, send, retryAfterOf, endpoint.id);
  return {
    status: answer.status,
    body: fromWire(overrides, endpoint, read({ overrides, endpoint, input, onObserved }, answer)),
  };
}

async function reported(
  connection: Connection,
  endpoint: AnyEndpoint,
  priority: Priority,
  run: (requestId: string) => Promise<{ status: number; body: unknown }>,
): Promise<unknown> {
  const requestId = randomUUID();
  const startedAt = performance.now();
  const report = (facts: Partial<CallReport>): void =>
    connection.onCall?.({ operation: endpoint.id, requestId, priority, ms: performance.now() - startedAt, ...facts });
  try {
    const { status, body } = await run(requestId);
    report({ status });
    return body;
  } catch (error) {
    report(isConnectorError(error) ? { status: error.status, code: error.code, action: error.action } : {});
    throw error;
  }
}

interface BuiltRequest {
  /** Relative to the base URL, query included. */
  path: string;
  body: string | undefined;
}

/**
 * Checks the input against the contract and builds path, query and body. E-mails, instants and ids are written in the
 * specification's form; all other values are sent unchanged. Error: `INVALID_INPUT`, naming record and fields, never
 * values.
 */
function buildRequest(overrides: Overrides, endpoint: AnyEndpoint, given: LooseInput): BuiltRequest {
  const input = { ...given, body: asSent(endpoint.body, given.body) };
  const params = check(endpoint, 'params', input);
  check(endpoint, 'query', input);
  const noBody = endpoint.bodyOptional === true && input.body === undefined;
  if (!noBody) check(endpoint, 'body', input);
  // Sends the given values, not the schema's output: the partner sets defaults.
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
  for (const { path } of parsed.error.issues) {
    const given = path.reduce((at: unknown, key) => (at as Fields | undefined)?.[key as string], value);
    if (isTooLarge(given)) throw tooLarge(endpoint, [part, ...path].join('.'), String(given));
  }
  const faults = parsed.error.issues.map(
    (issue) => `${[part, ...issue.path].join('.')}: ${issueText(issue)}${recordOf(input, part, issue.path)}`,
  );
  throw invalidInput(endpoint, faults.join('; '));
}

/** The ids around the refused field, so that somebody can find the record. */
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

/** Only text in the form of an id: a name or an address under such a key must not reach a message. */
function isIdOf(key: string, value: unknown): boolean {
  if (!/(^id|Id|^externalRef)$/.test(key)) return false;
  return typeof value === 'number' || (typeof value === 'string' && /^[\w:-]{1,64}$/.test(value));
}

function tooLarge({ id: operation }: AnyEndpoint, field: string, id: string): ConnectorError {
  return rejected(
    'ID_TOO_LARGE',
    `${operation} was not sent, because ${field} would be ${id}: hirebridge keeps no number above ` +
      `${Number.MAX_SAFE_INTEGER} exactly, so that two ids could become one. Ask the hiring platform for smaller ids.`,
    { details: { operation, field, id } },
  );
}

export function invalidInput(endpoint: AnyEndpoint, what: string): ConnectorError {
  return rejected(
    'INVALID_INPUT',
    `${endpoint.id} was not sent, because section ${endpoint.section} does not allow it: ${what}.`,
    { details: { operation: endpoint.id } },
  );
}

function fillPath(endpoint: AnyEndpoint, params: unknown): string {
  const values = params as Record<string, unknown>;
  return endpoint.path.replace(/:(\w+)/g, (_whole, name: string) => {
    const value = values[name];
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
    // A proxy in front of the partner would take such a segment for a step in the path.
    if (/^\.{0,2}$/.test(text)) throw invalidInput(endpoint, `params.${name}: not an id`);
    return encodeURIComponent(text);
  });
}

/** Arrays as comma lists (section 4.3); absent values are left out. */
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
 * The body as sent: e-mails and instants in their one form, and digits in text as numbers wherever the schema asks for
 * a number. Ids are text for callers, and integers on the wire if the specification says so (`"jobIds": [12]`).
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
  if (schema instanceof z.ZodPipe) {
    const parsed = schema.safeParse(text);
    return parsed.success ? parsed.data : text;
  }
  return schema instanceof z.ZodNumber && /^\d+$/.test(text) && !isTooLarge(text) ? Number(text) : text;
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

type Fields = Record<string, unknown>;

/** The input under the names this tenant's partner uses; checked before under the contract's names. */
function toWire(overrides: Overrides, endpoint: AnyEndpoint, input: LooseInput): LooseInput {
  const names = overrides.queryNames[endpoint.id] ?? {};
  const query = isFields(input.query)
    ? renamed(asCounted(overrides, endpoint, input.query, input.pageShift), names)
    : input.query;
  const change = bodyChanges[endpoint.id];
  const body = change === undefined ? input.body : change(overrides, input.body);
  return { ...input, query, body: renamedBody(body, overrides.bodyNames[endpoint.id] ?? {}) };
}

/** Objects that are no record of a list keep their keys: they may be ids, or the caller's own words. */
function renamedBody(body: unknown, names: Record<string, string>): unknown {
  if (Array.isArray(body)) return body.map((entry) => renamedBody(entry, names));
  if (!isFields(body)) return body;
  const entries = Object.entries(renamed(body, names));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Array.isArray(value) ? renamedBody(value, names) : value]),
  );
}

/** The page's number as this tenant's partner counts it. */
function asCounted({ firstPages }: Overrides, { id, list }: AnyEndpoint, query: Fields, shift = 0): Fields {
  const { pageParam = '', firstPage = 0 } = list?.paging ?? {};
  const [first = firstPage, page] = [firstPages[id], query[pageParam]];
  return page === undefined ? query : { ...query, [pageParam]: Number(page) + first - firstPage + shift };
}

/** A parsed success body under the contract's names. */
function fromWire(overrides: Overrides, endpoint: AnyEndpoint, body: unknown): unknown {
  const names = overrides.fieldNames[endpoint.id];
  if (names !== undefined && endpoint.list !== undefined) return renamedList(endpoint.list.itemsAt, names, body);
  if (!externalStatusEndpoints.has(endpoint.id) || !isFields(body) || !isFields(body['data'])) return body;
  const externalStatus = externalStatusOf(overrides, body['data']);
  return externalStatus === undefined ? body : { ...body, data: { ...body['data'], externalStatus } };
}

/** A parsed list body; records that were left unread are renamed when they are read. */
function renamedList(itemsAt: string, names: Record<string, string>, body: unknown): unknown {
  const [key = '', ...path] = itemsAt.split('.');
  const below = isFields(body) ? body[key] : undefined;
  if (!isFields(body) || below === undefined) return body;
  if (path.length > 0) return { ...body, [key]: renamedList(path.join('.'), names, below) };
  return Array.isArray(below) ? { ...body, [key]: underOurNames(below, names) } : body;
}

/**
 * "Returned by Get" (section 4.9, O12) may mean an object, in the tenant's place or under `externalStatus`, or fields
 * beside the others. All forms are read, under this partner's names and ours.
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
