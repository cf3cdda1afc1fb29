import type { z } from 'zod';
import { defaultOverrides } from '../partner/contract/assumptions.ts';
import { valueAt } from '../partner/contract/endpoint.ts';
import { type AnyEndpoint, allEndpoints } from '../partner/contract/index.ts';
import {
  AccountInactiveError,
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Context,
  InvalidKeyError,
  invalidRequest,
  issuePaths,
  issueSentence,
  issueWords,
  notFound,
  notImplemented,
  serverError,
  WorkspaceError,
} from './context.ts';
import { operations } from './operations/index.ts';
import type { Answer } from './operations/operation.ts';
import { createRandom, stableUuid } from './random.ts';
import { findAssessmentFlow } from './records/assessment-flows.ts';
import { findAssessmentToChange, requireQuestion } from './records/assessments.ts';
import { findSchedule } from './records/booking-schedules.ts';
import { findCampaign } from './records/campaigns.ts';
import { findCandidate } from './records/candidates.ts';
import { type Company, companyByKey } from './records/companies.ts';
import { findCustomField } from './records/custom-fields.ts';
import { findEnrolment, findFlow } from './records/enrolments.ts';
import { findJobCandidate } from './records/job-candidates.ts';
import { record } from './records/ledger.ts';
import { findPipeline, findStage } from './records/pipelines.ts';
import type { SandboxState } from './state.ts';

/** Section 9: the version is in the path. */
export const BASE_PATH = '/v1/partner';

interface Route {
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
function createRouter(): (method: string, path: string) => Route | undefined {
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

/** A request that has been looked at and not yet carried out. */
export interface Call {
  request: ApiRequest;
  requestId: string;
  search: string;
  /** Operation id, `keyStatus` or `unknown`. */
  operation: string;
  route: Route | undefined;
  company: Company | undefined;
  /** Why it will be refused before anything else: key or account (S4). */
  refusal: ApiError | undefined;
}

const route = createRouter();
const KEY_STATUS = 'keyStatus';
const KEY = /^bearer ([!-~]+)$/i;

/** Carries out one API call at once, without sockets, faults or limits, for simulations. */
export function handle(state: SandboxState, request: ApiRequest): ApiResponse {
  return execute(state, prepare(state, request));
}

/** Finds the company and the operation of a call. */
export function prepare(state: SandboxState, request: ApiRequest): Call {
  const cut = request.url.indexOf('?');
  const path = cut === -1 ? request.url : request.url.slice(0, cut);
  const found = path.startsWith(`${BASE_PATH}/`) ? route(request.method, path.slice(BASE_PATH.length)) : undefined;
  const given = request.headers['x-request-id'];
  const key = KEY.exec(String(request.headers['authorization'] ?? ''))?.[1];
  const company = key === undefined ? undefined : companyByKey(state, key);
  return {
    request,
    requestId:
      typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `req-${String(state.nextRequest())}`,
    search: cut === -1 ? '' : request.url.slice(cut + 1),
    operation: found?.endpoint.id ?? (isKeyStatus(request.method, path) ? KEY_STATUS : 'unknown'),
    route: found,
    company,
    refusal: refusalOf(company),
  };
}

/**
 * Section 5.4, whose path and success are not shown (G21, assumed): outside the contract's 89, because the client
 * implements its other side.
 */
function isKeyStatus(method: string, path: string): boolean {
  return method === 'GET' && path === BASE_PATH + defaultOverrides.keyStatusPath;
}

function refusalOf(company: Company | undefined): ApiError | undefined {
  if (company === undefined || !company.keyActive) return new InvalidKeyError();
  return company.accountActive ? undefined : new AccountInactiveError();
}

/** Carries the call out. Effects, events and ledger rows commit together; a refusal leaves only its ledger row. */
export function execute(state: SandboxState, call: Call, fault?: string): ApiResponse {
  return state.transaction(() => {
    const response = attempt(state, call);
    note(state, call, response.status, fault);
    return response;
  });
}

/** Refuses the call without carrying it out. */
export function refuseCall(state: SandboxState, call: Call, error: ApiError, fault?: string): ApiResponse {
  return state.transaction(() => {
    note(state, call, error.status, fault);
    return render(call, error.status, JSON.stringify(error), error.headers);
  });
}

/** Records a call that was never carried out and never answered. */
export function noteUnanswered(state: SandboxState, call: Call, fault: string): void {
  state.transaction(() => {
    note(state, call, undefined, fault);
  });
}

function attempt(state: SandboxState, call: Call): ApiResponse {
  try {
    const answer = state.transaction(() => run(state, call));
    const status = answer.status ?? call.route?.endpoint.status ?? 200;
    return render(call, status, answer.json ?? JSON.stringify(answer.body));
  } catch (error) {
    const refusal = asRefusal(state, call, error);
    return render(call, refusal.status, JSON.stringify(refusal), refusal.headers);
  }
}

/** Order of checks: key, account, path and query, resource, body, state, credits (G26, assumed). */
function run(state: SandboxState, call: Call): Answer {
  if (call.refusal !== undefined) throw call.refusal;
  if (call.operation === KEY_STATUS) return { body: { message: 'API key found', isApiKeyExists: true } };
  if (call.route === undefined || call.company === undefined) throw notFound('Path');
  const { endpoint, params: texts } = call.route;
  const operation = operations.get(endpoint.id);
  if (operation === undefined) throw notImplemented(endpoint.id);
  const ctx: Context = {
    state,
    company: call.company,
    now: state.clock.now(),
    origin: 'api',
    requestId: call.requestId,
  };
  const params = parseWith(endpoint, endpoint.params, texts) as Record<string, never> | undefined;
  const query = parseWith(endpoint, endpoint.query, readQuery(call.search));
  if (endpoint.body !== undefined)
    for (const name of Object.keys(params ?? {})) resourceChecks[name]?.(ctx, params?.[name] as never);
  const sent = endpoint.body === undefined ? undefined : readJson(call.request);
  const body =
    sent === undefined && endpoint.bodyOptional === true ? undefined : parseWith(endpoint, endpoint.body, sent);
  return quirkyAnswer(ctx, endpoint, query as Record<string, unknown> | undefined, (asked) =>
    operation(ctx, { params, query: asked, body } as never),
  );
}

function asRefusal(state: SandboxState, call: Call, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // JSON nested thousands deep parses and then overflows the stack of the code that walks it.
  if (error instanceof RangeError) return invalidRequest('The body is nested too deeply');
  state.onDefect?.(call.operation, error);
  return serverError();
}

function render(call: Call, status: number, body: string, headers: Record<string, string> = {}): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': call.requestId, ...headers },
    body,
  };
}

function note(state: SandboxState, call: Call, status: number | undefined, fault: string | undefined): void {
  const { operation, requestId } = call;
  const companyId = call.company?.id;
  const subject = Object.values(call.route?.params ?? {})[0];
  record(state, { kind: 'request', name: operation, companyId, status, subject, requestId, fault, origin: 'api' });
  if (fault !== undefined) noteFault(state, call, fault);
}

/** Counts one fault; a call's own row names only the last that struck it. */
export function noteFault(state: SandboxState, { operation, requestId, company }: Call, fault: string): void {
  record(state, { kind: 'fault', name: fault, companyId: company?.id, subject: operation, requestId, fault });
}

/**
 * Checks the input against the contract's schema. The code of the refusal is the one the endpoint names for that field
 * (a bad perPage is INVALID_PER_PAGE), INVALID_REQUEST otherwise; details map the dotted path of a field to its fault
 * (G15).
 */
function parseWith(endpoint: AnyEndpoint, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const told = issues.flatMap((issue) => issuePaths(issue).map((path) => [path, issueWords(issue)] as const));
  // The first fault of a field counts.
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

/** An invalid stage type is reported in the words of section 7, everything else with its field. */
function messageOf(issue: z.core.$ZodIssue): string {
  const words = issueWords(issue);
  return words === 'Stage type is not valid' ? words : issueSentence(issue);
}

/** The query of a URL; a repeated name is one comma list. */
function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === '__proto__') continue;
    query[name] = Object.hasOwn(query, name) ? `${query[name] ?? ''},${value}` : value;
  }
  return query;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/**
 * The JSON of a body; undefined for an empty one. Another type than section 5.1 asks for is refused (G14, assumed):
 * `fetch` calls a text `text/plain` unless told otherwise, which a strict server does not read.
 */
function readJson({ headers, body }: ApiRequest): unknown {
  if (body === undefined || body.trim() === '') return undefined;
  if (!JSON_TYPE.test(String(headers['content-type'] ?? '').trim()))
    throw invalidRequest('The body must be sent with Content-Type: application/json');
  try {
    return JSON.parse(body);
  } catch {
    throw invalidRequest('The body is not valid JSON');
  }
}

type Json = Record<string, unknown>;
type Query = Record<string, unknown>;
type Play = (query: Query | undefined) => Answer;

/** The answer of an operation, changed by the quirks in force. */
function quirkyAnswer(ctx: Context, endpoint: AnyEndpoint, query: Query | undefined, play: Play): Answer {
  const { quirks } = ctx.state;
  if (!quirks.any) return play(query);
  const { status, ...answer } = play(query);
  const body = bodyOf(answer);
  if (query !== undefined && quirks.has('moving-lists')) moveRows(ctx, endpoint, query, { body, play });
  if (quirks.has('overstated-total')) raiseTotal(endpoint, body, surplus(ctx, endpoint));
  const changed = changeRecords(body, (record) => changedRecord(ctx, endpoint, record));
  return { ...(status === undefined ? {} : { status }), body: changed };
}

function bodyOf({ json, body }: Answer): Json {
  return JSON.parse(json ?? JSON.stringify(body)) as Json;
}

/** Puts the last rows of the page before in front, as if as many had arrived at the head of the list meanwhile. */
function moveRows(ctx: Context, endpoint: AnyEndpoint, query: Query, { body, play }: { body: Json; play: Play }): void {
  const { itemsAt = '', paging } = endpoint.list ?? {};
  if (paging === undefined || typeof paging.end === 'string' || !('totalAt' in paging.end)) return;
  const page = Number(query[paging.pageParam]);
  const size = Number(query[paging.sizeParam]);
  const { [paging.pageParam]: _page, ...filters } = query;
  const list = JSON.stringify([ctx.company.id, endpoint.id, filters]);
  const rows = ctx.state.quirks.movedRows(list, page === paging.firstPage, size);
  if (rows === 0) return;
  const before = itemsIn(bodyOf(play({ ...query, [paging.pageParam]: page - 1 })), itemsAt);
  const items = itemsIn(body, itemsAt);
  items.splice(0, items.length, ...before.slice(size - rows), ...items.slice(0, size - rows));
  raiseTotal(endpoint, body, rows);
}

function itemsIn(body: Json, itemsAt: string): unknown[] {
  return valueAt(body, itemsAt) as unknown[];
}

/** Between one row and three pages of ten too many, always the same for one list. */
function surplus({ state }: Context, { id }: AnyEndpoint): number {
  return 1 + Math.floor(createRandom(state.seed + id.length)() * 30);
}

function raiseTotal({ list }: AnyEndpoint, body: Json, by: number): void {
  const end = list?.paging?.end;
  if (end === undefined || typeof end === 'string' || !('totalAt' in end)) return;
  const keys = end.totalAt.split('.');
  const last = keys.pop() ?? '';
  const holder = (keys.length === 0 ? body : valueAt(body, keys.join('.'))) as Json;
  const total = Number(holder[last]) + by;
  holder[last] = total;
  if ('totalPages' in holder) holder['totalPages'] = Math.ceil(total / Number(holder['limit']));
}

/** Every object of the answer, from the inside out. */
function changeRecords(value: unknown, change: (record: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((one) => changeRecords(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changeRecords(inner, change)] as const)),
  );
}

function changedRecord({ state }: Context, { id }: AnyEndpoint, record: Json): Json {
  const { createdAt, email, externalStatus } = record;
  const changes: Json = {};
  if (state.quirks.has('seconds-created-at') && typeof createdAt === 'number')
    changes['createdAt'] = Math.floor(createdAt / 1000);
  if (state.quirks.has('blank-emails') && typeof email === 'string' && /^(candidates|jobCandidates)\./.test(id))
    changes['email'] = asTyped(email, state.seed);
  if (state.quirks.has('flat-external-status') && typeof externalStatus === 'object') {
    const { status = null, employeeId = null } = (externalStatus ?? {}) as Json;
    Object.assign(changes, { externalStatus: status, employeeId });
  }
  return { ...record, ...changes };
}

/** An e-mail as somebody may have typed or pasted it: one of four ways, always the same for one address. */
function asTyped(email: string, seed: number): string {
  const [local = '', domain = ''] = email.split('@');
  const shouted = `${local}@${domain.toUpperCase()}`;
  const ways = [` ${shouted}`, `\u200b${email}\u200b`, `${email}\u00a0 `, `\ufeff${shouted} `];
  return ways[Number.parseInt(stableUuid(seed, 'typed', email).slice(0, 8), 16) % ways.length] ?? email;
}

/**
 * A record that is not there, or is another company's, is refused before its body is read (G26, assumed): path
 * parameter to the function that throws. A family adds the parameters of its own paths.
 */
const resourceChecks: Record<string, (ctx: Context, id: never) => unknown> = {
  pipelineId: findPipeline,
  stageId: findStage,
  candidateId: findCandidate,
  jobCandidateId: findJobCandidate,
  customFieldId: findCustomField,
  flowId: findFlow,
  onboardingCandidateId: findEnrolment,
  bookingScheduleId: findSchedule,
  campaignId: findCampaign,
  // Every call with a body changes the assessment (A10).
  assessmentId: findAssessmentToChange,
  questionId: requireQuestion,
  // Only assessment flows call their path parameter so.
  id: findAssessmentFlow,
};
