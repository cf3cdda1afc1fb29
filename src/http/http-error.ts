import type { IncomingHttpHeaders } from 'node:http';
import { ConnectorError, type ErrorAction } from '../errors.ts';
import type { HttpTimeouts } from './pool.ts';

interface StatusRow {
  /** If the request may be repeated. */
  action: ErrorAction;
  /** If it may not be repeated and may have been carried out. */
  afterWrite?: ErrorAction;
  code: string;
  hint: string;
  /** In place of the hint, where the request may have been carried out. */
  hintAfterWrite?: string;
}

const byStatus: Record<number, StatusRow> = {
  400: { action: 'reject', code: 'INVALID_REQUEST', hint: 'the data was refused' },
  401: { action: 'reauthorize', code: 'UNAUTHORIZED', hint: 'the key is not accepted: check or renew it' },
  402: { action: 'reject', code: 'PAYMENT_REQUIRED', hint: 'the account has no credits left: add credits' },
  403: { action: 'reauthorize', code: 'FORBIDDEN', hint: 'the key or account may not do this: check both' },
  404: { action: 'reject', code: 'NOT_FOUND', hint: 'there is no such record, or it is not ours' },
  405: {
    action: 'reject',
    code: 'METHOD_NOT_ALLOWED',
    hint: 'there is no such call at this address: check the base URL',
  },
  408: { action: 'retry', afterWrite: 'unknown', code: 'REQUEST_TIMEOUT', hint: 'the server gave up waiting' },
  409: { action: 'reject', code: 'CONFLICT', hint: 'it conflicts with what is there' },
  410: { action: 'reject', code: 'GONE', hint: 'the record is gone' },
  413: { action: 'reject', code: 'TOO_LARGE', hint: 'the request is too large' },
  415: { action: 'reject', code: 'UNSUPPORTED_MEDIA_TYPE', hint: 'the form of the request was refused' },
  422: { action: 'reject', code: 'UNPROCESSABLE', hint: 'the data was refused' },
  425: { action: 'retry', code: 'TOO_EARLY', hint: 'the server asks to try again' },
  429: { action: 'throttle', code: 'RATE_LIMITED', hint: 'too many requests: it is tried again by itself' },
  501: { action: 'reject', code: 'NOT_IMPLEMENTED', hint: 'the server does not offer this call' },
};

const byClass: Record<number, StatusRow> = {
  1: { action: 'retry', afterWrite: 'unknown', code: 'UNEXPECTED_ANSWER', hint: 'this is not a final answer' },
  3: { action: 'reject', code: 'UNEXPECTED_REDIRECT', hint: 'redirects are not followed: check the base URL' },
  4: { action: 'reject', code: 'REQUEST_REFUSED', hint: 'the request was refused' },
  5: {
    action: 'retry',
    afterWrite: 'unknown',
    code: 'SERVER_ERROR',
    hint: 'the server failed: it is tried again by itself',
    hintAfterWrite: 'the server failed: check whether it was carried out before sending it again',
  },
};

const unexpected: StatusRow = {
  action: 'retry',
  afterWrite: 'unknown',
  code: 'UNEXPECTED_ANSWER',
  hint: 'this status is not expected',
};

/** The one table from HTTP status to action. An adapter may replace a row, but not write its own table. */
function statusRow(status: number): StatusRow {
  return byStatus[status] ?? byClass[Math.floor(status / 100)] ?? unexpected;
}

/** The action for a status, depending on whether the request may be repeated. */
export function actionForStatus(status: number, idempotent: boolean): ErrorAction {
  return rowAction(statusRow(status), idempotent);
}

function rowAction(row: StatusRow, idempotent: boolean): ErrorAction {
  return idempotent ? row.action : (row.afterWrite ?? row.action);
}

interface RefusedAnswer {
  status: number;
  headers: Record<string, unknown>;
  requestId: string;
}

/** The error for an unsuccessful answer. `what` names the call without personal data: `POST /candidates`. */
export function httpError(
  what: string,
  answer: RefusedAnswer,
  idempotent: boolean,
  known: {
    code?: string | undefined;
    action?: ErrorAction | undefined;
    /** The other side's own words, made safe to show. */
    said?: string | undefined;
    hint?: string | undefined;
    /** Names of the refused fields. */
    fields?: readonly string[];
    details?: Record<string, unknown> | undefined;
  } = {},
): ConnectorError {
  const row = statusRow(answer.status);
  const action = known.action ?? rowAction(row, idempotent);
  const hint = (action === 'unknown' ? row.hintAfterWrite : undefined) ?? row.hint;
  const code = known.code ?? row.code;
  const retryAfterMs = readRetryAfter(answer.headers, Date.now());
  const about = known.fields === undefined || known.fields.length === 0 ? '' : ` (${known.fields.join(', ')})`;
  const said = known.said === undefined ? '' : ` "${known.said}";`;
  return new ConnectorError({
    code,
    action,
    message:
      `${what} was answered ${answer.status} ${code} (request ${answer.requestId}):${said} ` +
      `${known.hint ?? hint}${about}.`,
    said: known.said,
    status: answer.status,
    retryAfterMs,
    details: known.details,
    requestId: answer.requestId,
  });
}

/** Longer waits are treated as a server's mistake (86,400 has been seen) and cut to one hour. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Reads Retry-After (RFC 9110 section 10.2.3), seconds or an HTTP date, as ms from now. Undefined if it is missing,
 * negative or invalid, so that the caller's own wait applies. A date is compared with the answer's Date header if there
 * is one, because the server's clock may differ from ours by minutes.
 */
export function readRetryAfter(headers: Record<string, unknown>, now: number): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  // Date.parse reads "-5" as a year; an HTTP date begins with a weekday.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const wait = at - serverNow(headers['date'], now);
  return wait < 0 ? undefined : Math.min(wait, MAX_RETRY_AFTER_MS);
}

function serverNow(date: unknown, now: number): number {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? now : at;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: HttpMethod;
  /** Names the call in messages, where its path may hold personal data: `GET /staff/{id}`. */
  what?: string | undefined;
  /** Path and query, from the origin's root. */
  path: string;
  headers?: Record<string, string> | undefined;
  body?: string | Buffer | undefined;
  /** Our id of the request, sent as X-Request-Id; generated if absent. */
  requestId?: string | undefined;
  /** True if repeating the request is harmless; by default GET, PUT and DELETE. Decides on `retry` or `unknown`. */
  idempotent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Limit for the body as received and as decompressed. 32 MiB by default. */
  maxBodyBytes?: number | undefined;
  /**
   * Called synchronously, directly before the bytes are given to the socket. If it throws, nothing is sent and its
   * error is passed on.
   */
  beforeSend?: (() => void) | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: Buffer;
  /** When the bytes left and when the last byte arrived, in ms of this process's clock. */
  sentAt: number;
  endedAt: number;
  requestId: string;
}
