import { ConnectorError, isConnectorError } from '../errors.ts';

/** Live requests (a hire's) go before bulk ones, inside one budget. */
export type Priority = 'live' | 'bulk';

export interface RateLimitAnswer {
  /** When the request left, in ms of the keeper's clock (Date.now for requests of this process). */
  sentAt: number;
  /** 0 where no answer came. */
  status: number;
  /** Where it went, as it was asked for. */
  endpoint?: string | undefined;
  /** Requests under way at that moment, this one included, of everybody who shares the rate limit. */
  inFlight?: number;
  /** From the send to the answer, where that is known. */
  roundTripMs?: number;
  retryAfterMs?: number | undefined;
  headers?: Record<string, unknown> | undefined;
}

/** One rate limit per (tenant, upstream). A sender asks here first and reports each answer. */
export interface RateLimitKeeper {
  /**
   * Resolves when one request may leave; rejects with the signal's reason, or when the keeper is closed. `endpoint`:
   * where it goes, of few names; it may have a limit of its own.
   */
  acquire(priority: Priority, signal?: AbortSignal, endpoint?: string): Promise<void>;
  /** Once for each permit that was given, whatever became of the request. */
  answered(answer: RateLimitAnswer): void;
  /**
   * How long a call that asked now would wait, ms, as far as is known: the rest of a pause, and its place behind those
   * that wait. A caller that cannot wait so long does something else and asks again later.
   */
  waitMs(priority: Priority, endpoint?: string): number;
  /** The learned rate of everybody together; infinite where none is known. */
  perSecond(endpoint?: string): number;
}

/** No rate limit at all: for tests, and for upstreams without limits. */
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
  /** Begins the sentence that says what was given up. */
  what: string;
  requestId?: string;
  /** As `RateLimitKeeper.acquire` takes it. */
  endpoint?: string;
}

/** Waits for a permit. @throws ConnectorError ABORTED where the call's own signal gives it up meanwhile */
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

/** Every permit is answered for, also where no answer comes. */
export async function sendOnPermit<Answer extends Pick<RateLimitAnswer, 'sentAt' | 'status' | 'headers'>>(
  rateLimit: RateLimitKeeper,
  send: () => Promise<Answer>,
  readRetryAfterMs: (answer: Answer) => number | undefined,
  endpoint?: string,
): Promise<Answer> {
  const answer = await send().catch((error: unknown) => {
    // An answer whose body cannot be read has a status all the same, and a 429 is a 429.
    rateLimit.answered({ sentAt: Date.now(), status: isConnectorError(error) ? (error.status ?? 0) : 0, endpoint });
    throw error;
  });
  const { sentAt, status, headers } = answer;
  rateLimit.answered({ sentAt, status, headers, retryAfterMs: readRetryAfterMs(answer), endpoint });
  return answer;
}
