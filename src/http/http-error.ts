import { ConnectorError, type ErrorAction } from '../errors.ts';
import { readRetryAfter } from './retry-after.ts';

export interface StatusRow {
  /** Where it is safe to repeat the request. */
  action: ErrorAction;
  /** Where it is not and the request may have been carried out all the same. */
  afterWrite?: ErrorAction;
  code: string;
  hint: string;
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
    hint: 'the address does not know this call: check the base URL',
  },
  408: { action: 'retry', afterWrite: 'unknown', code: 'REQUEST_TIMEOUT', hint: 'the server gave up waiting' },
  409: { action: 'reject', code: 'CONFLICT', hint: 'it is in conflict with what is there' },
  410: { action: 'reject', code: 'GONE', hint: 'the record is gone' },
  413: { action: 'reject', code: 'TOO_LARGE', hint: 'the request is too large' },
  415: { action: 'reject', code: 'UNSUPPORTED_MEDIA_TYPE', hint: 'the form of the request was refused' },
  422: { action: 'reject', code: 'UNPROCESSABLE', hint: 'the data was refused' },
  425: { action: 'retry', code: 'TOO_EARLY', hint: 'the server asks to try again' },
  429: { action: 'throttle', code: 'RATE_LIMITED', hint: 'too many requests: it goes on by itself' },
  501: { action: 'reject', code: 'NOT_IMPLEMENTED', hint: 'the server does not offer this call' },
};

const byClass: Record<number, StatusRow> = {
  1: { action: 'retry', afterWrite: 'unknown', code: 'UNEXPECTED_ANSWER', hint: 'this is no final answer' },
  3: { action: 'reject', code: 'UNEXPECTED_REDIRECT', hint: 'redirects are not followed: check the base URL' },
  4: { action: 'reject', code: 'REQUEST_REFUSED', hint: 'the request was refused' },
  5: { action: 'retry', afterWrite: 'unknown', code: 'SERVER_ERROR', hint: 'the server failed: it goes on by itself' },
};

const unexpected: StatusRow = {
  action: 'retry',
  afterWrite: 'unknown',
  code: 'UNEXPECTED_ANSWER',
  hint: 'this status is not expected',
};

/**
 * The one table from an HTTP status to what must be done about it. An adapter may replace a row, never write its own.
 */
export function statusRow(status: number): StatusRow {
  return byStatus[status] ?? byClass[Math.floor(status / 100)] ?? unexpected;
}

/** What to do about a status, given whether the request may be repeated. */
export function actionForStatus(status: number, idempotent: boolean): ErrorAction {
  return rowAction(statusRow(status), idempotent);
}

export function rowAction(row: StatusRow, idempotent: boolean): ErrorAction {
  return idempotent ? row.action : (row.afterWrite ?? row.action);
}

export interface RefusedAnswer {
  status: number;
  headers: Record<string, unknown>;
  requestId: string;
}

/** The error for an answer that is no success. `what` names the call without personal data: `POST /candidates`. */
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
    /** Names of the fields that were refused. */
    fields?: readonly string[];
    details?: Record<string, unknown> | undefined;
  } = {},
): ConnectorError {
  const row = statusRow(answer.status);
  const code = known.code ?? row.code;
  const retryAfterMs = readRetryAfter(answer.headers, Date.now());
  const about = known.fields === undefined || known.fields.length === 0 ? '' : ` (${known.fields.join(', ')})`;
  const said = known.said === undefined ? '' : ` "${known.said}";`;
  return new ConnectorError({
    code,
    action: known.action ?? rowAction(row, idempotent),
    message:
      `${what} was answered ${answer.status} ${code} (request ${answer.requestId}):${said} ` +
      `${known.hint ?? row.hint}${about}.`,
    status: answer.status,
    retryAfterMs,
    details: known.details,
    requestId: answer.requestId,
  });
}
