import { randomUUID } from 'node:crypto';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { decodeBody } from './body.ts';
import { type Exchange, exchange } from './exchange.ts';
import type { HttpAnswer, HttpMethod, HttpRequest } from './message.ts';
import type { HttpPool } from './pool.ts';

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;
const idempotentMethods: ReadonlySet<HttpMethod> = new Set(['GET', 'PUT', 'DELETE']);

/**
 * Exactly one HTTP request: never retried, no redirect followed. Any complete answer is returned, whatever its status.
 * Errors: `UNREACHABLE`, `PRIVATE_ADDRESS` or `ABORTED` with action `retry` or `reject` when it was never sent;
 * `NO_ANSWER`, `ANSWER_TOO_LARGE`, `UNREADABLE_ANSWER` or `ABORTED` with action `unknown` (`retry` where idempotent)
 * when it was.
 */
export async function sendRequest(pool: HttpPool, request: HttpRequest): Promise<HttpAnswer> {
  const requestId = request.requestId ?? randomUUID();
  const maxBodyBytes = request.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const state: Exchange = { sentAt: undefined, status: undefined };
  try {
    const raw = await exchange(pool, { ...request, headers: headersOf(request, requestId) }, maxBodyBytes, state);
    const body = await decodeBody(raw.body, raw.headers['content-encoding'], maxBodyBytes);
    return { ...raw, body, endedAt: Date.now(), requestId };
  } catch (error) {
    throw explain(error, state, pool, request, requestId);
  }
}

function headersOf(request: HttpRequest, requestId: string): Record<string, string> {
  return { 'accept-encoding': 'gzip, deflate', 'x-request-id': requestId, ...request.headers };
}

function explain(error: unknown, state: Exchange, pool: HttpPool, request: HttpRequest, requestId: string): unknown {
  if (state.refusal !== undefined) return state.refusal.error;
  const sent = state.sentAt !== undefined;
  const reason = reasonOf(error);
  // The path without its query: a query may hold a person's e-mail.
  const what = `${request.method} ${request.path.split('?', 1)[0]} (request ${requestId})`;
  if (!sent && isConnectorError(error)) return error;
  if (!sent) {
    return new ConnectorError({
      code: reason === 'ABORTED' ? 'ABORTED' : 'UNREACHABLE',
      action: 'retry',
      message: `${what} was not sent: ${pool.origin} ${reasonText(reason)}.`,
      requestId,
      details: { reason },
      cause: error,
    });
  }
  const idempotent = request.idempotent ?? idempotentMethods.has(request.method);
  return new ConnectorError({
    code: codesAfterSending[reason] ?? 'NO_ANSWER',
    action: idempotent ? 'retry' : 'unknown',
    message:
      `${what} was sent to ${pool.origin} and has no complete answer: it ${reasonText(reason)}. ` +
      `${idempotent ? 'It is safe to repeat.' : 'Look whether it was carried out before sending it again.'}`,
    status: state.status,
    requestId,
    details: { reason },
    cause: error,
  });
}

const codesAfterSending: Record<string, string> = {
  ABORTED: 'ABORTED',
  ANSWER_TOO_LARGE: 'ANSWER_TOO_LARGE',
  UNREADABLE_BODY: 'UNREADABLE_ANSWER',
};

const reasonTexts: Record<string, string> = {
  ABORTED: 'was cancelled by the caller',
  TIMEOUT: 'took longer than allowed in total',
  ANSWER_TOO_LARGE: 'answered with more bytes than allowed',
  UNREADABLE_BODY: 'answered with a body that cannot be unpacked',
  ENOTFOUND: 'has no address (ENOTFOUND): check the host name',
  ECONNREFUSED: 'refuses connections (ECONNREFUSED): check host and port',
  UND_ERR_CONNECT_TIMEOUT: 'does not accept a connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
};

function reasonText(reason: string): string {
  return reasonTexts[reason] ?? `failed (${reason})`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code === 'string') return code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? error.name : reasonOf(inner);
}
