import { ConnectorError } from '../errors.ts';
import { MOST_LIVE_IN_ROW } from './permits.ts';
import type { Priority } from './rate-limit.ts';

/** Calls of one process that wait for a permit: live before bulk, each in the order of coming. */
export interface Waiters {
  /** Waits for `goNext`; rejects with the signal's reason, and then calls `onGone`, or when it is closed. */
  wait(priority: Priority, onGone: () => void, signal?: AbortSignal): Promise<void>;
  count(priority: Priority): number;
  all(): number;
  /** Lets the next one go; false where nobody waits. */
  goNext(): boolean;
  /** How long those that went have waited since this was last asked, ms. */
  takeWaits(): Record<Priority, number[]>;
  /** No permit will come: a key was renewed, or the process ends. */
  close(): void;
}

interface Waiter {
  since: number;
  go: () => void;
  stop: () => void;
}

export function createWaiters(): Waiters {
  const queues: Record<Priority, Waiter[]> = { live: [], bulk: [] };
  let waits: Record<Priority, number[]> = { live: [], bulk: [] };
  let liveInRow = 0;
  let closed = false;
  return {
    async wait(priority, onGone, signal) {
      signal?.throwIfAborted();
      if (closed) throw rateLimitClosed();
      await enqueue(queues[priority], onGone, signal);
    },
    count: (priority) => queues[priority].length,
    all: () => queues.live.length + queues.bulk.length,
    goNext() {
      const { live, bulk } = queues;
      const isBulkDue = live.length === 0 || (liveInRow >= MOST_LIVE_IN_ROW && bulk.length > 0);
      const priority = isBulkDue ? 'bulk' : 'live';
      liveInRow = isBulkDue ? 0 : liveInRow + 1;
      const waiter = queues[priority].shift();
      if (waiter === undefined) return false;
      waits[priority].push(performance.now() - waiter.since);
      waiter.go();
      return true;
    },
    takeWaits() {
      const taken = waits;
      waits = { live: [], bulk: [] };
      return taken;
    },
    close() {
      closed = true;
      for (const waiter of Object.values(queues).flatMap((queue) => queue.splice(0))) waiter.stop();
    },
  };
}

function enqueue(queue: Waiter[], onGone: () => void, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      queue.splice(queue.indexOf(waiter), 1);
      reject(signal?.reason as Error);
      onGone();
    };
    const end = (settle: () => void) => () => {
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const waiter: Waiter = { since: performance.now(), go: end(resolve), stop: end(() => reject(rateLimitClosed())) };
    signal?.addEventListener('abort', onAbort, { once: true });
    queue.push(waiter);
  });
}

/** What a call hears that waits while its connection is closed. */
export function rateLimitClosed(): ConnectorError {
  return new ConnectorError({
    code: 'CONNECTION_CLOSED',
    action: 'retry',
    message: 'The connection was closed while a call waited for a permit of the rate limit. Nothing was sent.',
  });
}
