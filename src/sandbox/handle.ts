import { defaultOverrides } from '../partner/contract/overrides.ts';
import { quirkyAnswer } from './answer-quirks.ts';
import type { ApiRequest, ApiResponse } from './api-message.ts';
import type { Context } from './context.ts';
import {
  AccountInactiveError,
  ApiError,
  InvalidKeyError,
  invalidRequest,
  notFound,
  notImplemented,
  serverError,
} from './errors.ts';
import { operations } from './operations/index.ts';
import type { Answer } from './operations/operation.ts';
import { resourceChecks } from './operations/resource-checks.ts';
import { record } from './records/platform/ledger.ts';
import { type Company, companyByKey } from './records/workspace/companies.ts';
import { BASE_PATH, createRouter, type Route } from './router.ts';
import type { SandboxState } from './state.ts';
import { parseWith, readJson, readQuery } from './validate.ts';

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

/** Carries out one API call at once, without sockets, faults or limits: what a simulation drives. */
export function handle(state: SandboxState, request: ApiRequest): ApiResponse {
  return execute(state, prepare(state, request));
}

/** Finds out whose call this is and for which operation. */
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
 * Section 5.4, whose path and success are not shown (G21, assumed): outside the contract's 89, as its other side is the
 * client's own.
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

/** Writes down a call that was never carried out and never answered. */
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
  const sent = endpoint.body === undefined ? undefined : readJson(call.request.body);
  const body =
    sent === undefined && endpoint.bodyOptional === true ? undefined : parseWith(endpoint, endpoint.body, sent);
  return quirkyAnswer(ctx, endpoint, query as Record<string, unknown> | undefined, (asked) =>
    operation(ctx, { params, query: asked, body } as never),
  );
}

function asRefusal(state: SandboxState, call: Call, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // JSON nested thousands deep parses and then overflows the stack of whoever walks it.
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
