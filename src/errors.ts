/** What the caller must do about an error. One word, decided where the error is made. */
export type ErrorAction =
  /** Nothing happened or the call is safe to repeat: try again later. */
  | 'retry'
  /** Too fast: try again after `retryAfterMs`. */
  | 'throttle'
  /** The key or account no longer works: pause the tenant. */
  | 'reauthorize'
  /** Bad data or a rule only a person can satisfy: hold. */
  | 'reject'
  /** Already as wanted. */
  | 'ignore'
  /** Sent, and no answer: look first, never send again on a guess. */
  | 'unknown';

export interface ErrorFacts {
  /** Stable, upper snake case; the partner's own code where it gave one. */
  code: string;
  action: ErrorAction;
  /** Safe to show: ids and codes only, never a body, a secret or a person's data. */
  message: string;
  /** HTTP status, where there was an answer. */
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  /** Field to message, or numbers the caller needs; safe to show. */
  details?: Record<string, unknown> | undefined;
  /** Our own id of the request, also sent as X-Request-Id and logged. */
  requestId?: string | undefined;
  cause?: unknown;
}

/** The one error class that crosses rooms: a stable code, what to do about it, and a message safe to show. */
export class ConnectorError extends Error {
  readonly code: string;
  readonly action: ErrorAction;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly requestId: string | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ConnectorError';
    this.code = facts.code;
    this.action = facts.action;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.details = facts.details;
    this.requestId = facts.requestId;
  }
}

/** True for a ConnectorError, optionally of one code. */
export function isConnectorError(error: unknown, code?: string): error is ConnectorError {
  return error instanceof ConnectorError && (code === undefined || error.code === code);
}
