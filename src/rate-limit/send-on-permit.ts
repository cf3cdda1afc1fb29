import { ConnectorError, isConnectorError } from '../errors.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';

/** A call that waits for its permit. */
export interface WaitingCall {
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
