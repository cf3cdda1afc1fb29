/** What the caller must do about an error. One word, decided where the error is created. */
export type ErrorAction =
  /** Nothing happened, or the call is safe to repeat: try again later. */
  | 'retry'
  /** Too fast: try again after `retryAfterMs`. */
  | 'throttle'
  /** The key or account no longer works: pause the tenant. */
  | 'reauthorize'
  /** Bad data, or a rule that only a person can satisfy: open a hold. */
  | 'reject'
  /** It is already as wanted. */
  | 'ignore'
  /** Sent without an answer: look first, and never send again on a guess. */
  | 'unknown';

export interface ErrorFacts {
  /** Stable, upper snake case; the partner's own code if it gave one. */
  code: string;
  action: ErrorAction;
  /** Safe to show: ids and codes only, never a body, a secret or a person's data. */
  message: string;
  /** The other side's own words, where they stand in the message. Default: those of a cause, where they still do. */
  said?: string | undefined;
  /** HTTP status, if there was an answer. */
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  /** By field, a message; or numbers that the caller needs. Safe to show. */
  details?: Record<string, unknown> | undefined;
  /** Our id of the request, also sent as X-Request-Id and logged. */
  requestId?: string | undefined;
  cause?: unknown;
}

/** Shorter words of the other side may be part of ours as well: they are cut out once, where they come last. */
const TELLING = 12;
const LETTER_LAST = /[\p{L}\p{N}]$/u;
const LETTER_FIRST = /^[\p{L}\p{N}]/u;

/** The one error class that all rooms share: a stable code, an action, and a message that is safe to show. */
export class ConnectorError extends Error {
  readonly code: string;
  readonly action: ErrorAction;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly requestId: string | undefined;
  readonly #said: string | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ConnectorError';
    this.code = facts.code;
    this.action = facts.action;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.#said = facts.said ?? (facts.cause instanceof ConnectorError ? facts.cause.#said : undefined);
  }

  /** The same with other facts, and this one as its cause. */
  but(other: Partial<ErrorFacts>): ConnectorError {
    const { code, action, message, status, retryAfterMs, details, requestId } = this;
    const same = { code, action, message, status, retryAfterMs, details, requestId };
    return new ConnectorError({ ...same, ...other, cause: this });
  }

  /**
   * The message, or a text that repeats it (a stack), without the other side's words. Values that they were sent are
   * cut out of these, but what else they say of somebody cannot be known: they go into the store, and nowhere else.
   */
  withoutWords(text = this.message): string {
    const said = this.#said;
    if (!said) return text;
    if (said.length >= TELLING) return text.replaceAll(said, '…');
    const at = this.message.lastIndexOf(said);
    const [before, after] = [this.message.slice(0, Math.max(at, 0)), this.message.slice(at + said.length)];
    const isTheirs = at !== -1 && !LETTER_LAST.test(before) && !LETTER_FIRST.test(after);
    const cut = isTheirs ? `${before}…${after}` : this.message;
    return text === said ? '…' : text.replaceAll(this.message, () => cut);
  }
}

/** Bad data, or a rule that only a person can satisfy. */
export function rejected(
  code: string,
  message: string,
  more: Partial<Omit<ErrorFacts, 'code' | 'action' | 'message'>> = {},
): ConnectorError {
  return new ConnectorError({ ...more, code, action: 'reject', message });
}

/** Whether it is a ConnectorError, optionally with this code. */
export function isConnectorError(error: unknown, code?: string): error is ConnectorError {
  return error instanceof ConnectorError && (code === undefined || error.code === code);
}

/** Takes an error with one of these codes for the answer that there is none; throws any other. */
export function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.some((code) => isConnectorError(error, code))) throw error;
    return undefined;
  };
}

/** The same for a refusal, whatever its code. */
export function unlessRefused(error: unknown): undefined {
  if (!isConnectorError(error) || error.action !== 'reject') throw error;
  return undefined;
}
