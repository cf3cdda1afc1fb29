import { ConnectorError } from '../errors.ts';
import type { Priority } from './rate-limit.ts';
import { MOST_LIVE_IN_ROW } from './saved-rate-limit.ts';

interface Waiter {
  since: number;
  go: () => void;
  stop: () => void;
}

/** Calls of one process that wait for a permit: live before bulk, and within a priority the holders take turns. */
export function createWaiters() {
  const queues = { live: createTurns(), bulk: createTurns() };
  let waits: Record<Priority, number[]> = { live: [], bulk: [] };
  let liveInRow = 0;
  let closed = false;
  return {
    /** Waits for `goNext`. Rejects with the signal's reason, and then calls `onGone`; also rejects when closed. */
    async wait(priority: Priority, holder: object, onGone: () => void, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted();
      if (closed) throw rateLimitClosed();
      const { promise, resolve: go, reject } = Promise.withResolvers<void>();
      const waiter: Waiter = { since: performance.now(), go, stop: () => reject(rateLimitClosed()) };
      const onAbort = (): void => {
        queues[priority].remove(holder, waiter);
        reject(signal?.reason as Error);
        onGone();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      queues[priority].add(holder, waiter);
      await promise.finally(() => signal?.removeEventListener('abort', onAbort));
    },
    count: (priority: Priority): number => queues[priority].count(),
    all: (): number => queues.live.count() + queues.bulk.count(),
    /** Number of calls that go before a call which this holder would make now. */
    ahead: (priority: Priority, holder: object): number =>
      (priority === 'bulk' ? queues.live.count() : 0) + queues[priority].ahead(holder),
    /** Lets the next call go; returns false if none waits. */
    goNext(): boolean {
      const { live, bulk } = queues;
      const isBulkDue = live.count() === 0 || (liveInRow >= MOST_LIVE_IN_ROW && bulk.count() > 0);
      const priority = isBulkDue ? 'bulk' : 'live';
      liveInRow = isBulkDue ? 0 : liveInRow + 1;
      const waiter = queues[priority].next();
      if (waiter === undefined) return false;
      waits[priority].push(performance.now() - waiter.since);
      waiter.go();
      return true;
    },
    /** How long, in ms, the calls that went since the last `takeWaits` had waited. */
    takeWaits(): Record<Priority, number[]> {
      const taken = waits;
      waits = { live: [], bulk: [] };
      return taken;
    },
    /** No permit will come any more: a key was renewed, or the process ends. */
    close(): void {
      closed = true;
      for (const queue of Object.values(queues))
        for (let waiter = queue.next(); waiter !== undefined; waiter = queue.next()) waiter.stop();
    },
  };
}

/** The error for a call that waits while its connection is closed. */
export function rateLimitClosed(): ConnectorError {
  return new ConnectorError({
    code: 'CONNECTION_CLOSED',
    action: 'retry',
    message: 'The connection was closed while a call waited for a permit of the rate limit. Nothing was sent.',
  });
}

/** A queue for several holders: holders take turns, and each holder's own calls go in order of arrival. */
function createTurns() {
  /** In the order of the turns. */
  const queues = new Map<object, Waiter[]>();
  return {
    add(holder: object, waiter: Waiter): void {
      const queue = queues.get(holder) ?? [];
      queue.push(waiter);
      queues.set(holder, queue);
    },
    remove(holder: object, waiter: Waiter): void {
      const left = queues.get(holder)?.filter((one) => one !== waiter) ?? [];
      if (left.length > 0) queues.set(holder, left);
      else queues.delete(holder);
    },
    next(): Waiter | undefined {
      const [turn] = queues;
      if (turn === undefined) return undefined;
      const [holder, queue] = turn;
      queues.delete(holder);
      const waiter = queue.shift();
      if (queue.length > 0) queues.set(holder, queue);
      return waiter;
    },
    count: (): number => [...queues.values()].reduce((sum, { length }) => sum + length, 0),
    /** How many waiting calls go before one that this holder would add now. */
    ahead(holder: object): number {
      const own = queues.get(holder)?.length ?? 0;
      return [...queues.values()].reduce((sum, { length }) => sum + Math.min(length, own + 1), 0);
    },
  };
}
