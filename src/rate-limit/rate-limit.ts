import { ConnectorError, isConnectorError } from '../errors.ts';

/** Live requests (those of a hire) go before bulk requests, within one budget. */
export type Priority = 'live' | 'bulk';

export interface RateLimitAnswer {
  /** When the request was sent, in ms of the keeper's clock (Date.now for requests of this process). */
  sentAt: number;
  /** 0 if no answer came. */
  status: number;
  /** The endpoint, as passed to `acquire`. */
  endpoint?: string | undefined;
  /** Requests in flight at that moment, including this one, of all processes that share the rate limit. */
  inFlight?: number;
  /** Time from the send to the answer, if known. */
  roundTripMs?: number;
  retryAfterMs?: number | undefined;
  headers?: Record<string, unknown> | undefined;
}

/** One rate limit per (tenant, upstream). A sender asks here first and reports each answer. */
export interface RateLimitKeeper {
  /**
   * Resolves when one request may be sent; rejects with the signal's reason, or when the keeper is closed. `endpoint`
   * names the target, from a small set of names; it may have a limit of its own.
   */
  acquire(priority: Priority, signal?: AbortSignal, endpoint?: string): Promise<void>;
  /** Called once for each permit that was given, no matter what happened to the request. */
  answered(answer: RateLimitAnswer): void;
  /**
   * How long, in ms, a call would wait if it asked now, as far as known: the rest of a pause, and its place in the
   * queue. A caller that cannot wait this long does something else and asks again later.
   */
  waitMs(priority: Priority, endpoint?: string): number;
  /** The learned rate of all processes together; infinite if unknown. */
  perSecond(endpoint?: string): number;
}

/** No rate limit: for tests and for upstreams without limits. */
export const unlimited: RateLimitKeeper = {
  acquire: () => Promise.resolve(),
  answered: () => undefined,
  waitMs: () => 0,
  perSecond: () => Number.POSITIVE_INFINITY,
};

/** A call that waits for its permit. */
interface WaitingCall {
  priority: Priority;
  signal?: AbortSignal | undefined;
  /** Start of the sentence that says what was given up. */
  what: string;
  requestId?: string;
  /** The endpoint, as `RateLimitKeeper.acquire` takes it. */
  endpoint?: string;
}

/** Waits for a permit. @throws ConnectorError ABORTED if the call's own signal aborts meanwhile */
export async function acquirePermit(
  rateLimit: RateLimitKeeper,
  { priority, signal, what, requestId, endpoint }: WaitingCall,
): Promise<void> {
  try {
    signal?.throwIfAborted();
    await rateLimit.acquire(priority, signal, endpoint);
  } catch (error) {
    if (isConnectorError(error) || signal?.aborted !== true) throw error;
    throw new ConnectorError({
      code: 'ABORTED',
      action: 'retry',
      message: `${what} was given up while it waited for a permit of the rate limit. Nothing was sent.`,
      requestId,
      cause: error,
    });
  }
}

/** Sends with a permit and reports the outcome, also if no answer comes: each permit must be reported once. */
export async function sendOnPermit<Answer extends Pick<RateLimitAnswer, 'sentAt' | 'status' | 'headers'>>(
  rateLimit: RateLimitKeeper,
  send: () => Promise<Answer>,
  readRetryAfterMs: (answer: Answer) => number | undefined,
  endpoint?: string,
): Promise<Answer> {
  const answer = await send().catch((error: unknown) => {
    // An answer with an unreadable body still has a status, and a 429 must be counted.
    rateLimit.answered({ sentAt: Date.now(), status: isConnectorError(error) ? (error.status ?? 0) : 0, endpoint });
    throw error;
  });
  const { sentAt, status, headers } = answer;
  rateLimit.answered({ sentAt, status, headers, retryAfterMs: readRetryAfterMs(answer), endpoint });
  return answer;
}
