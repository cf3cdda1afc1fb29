import { ConnectorError } from '../errors.ts';
import type { Priority } from './rate-limit.ts';
import { MOST_LIVE_IN_ROW } from './saved-rate-limit.ts';

/** Calls of one process that wait for a permit: live before bulk, and within a priority the holders take turns. */
interface Waiters {
  /** Waits for `goNext`. Rejects with the signal's reason, and then calls `onGone`; also rejects when closed. */
  wait(priority: Priority, holder: object, onGone: () => void, signal?: AbortSignal): Promise<void>;
  count(priority: Priority): number;
  all(): number;
  /** Number of calls that go before a call which this holder would make now. */
  ahead(priority: Priority, holder: object): number;
  /** Lets the next call go; returns false if none waits. */
  goNext(): boolean;
  /** How long, in ms, the calls that went since the last `takeWaits` had waited. */
  takeWaits(): Record<Priority, number[]>;
  /** No permit will come any more: a key was renewed, or the process ends. */
  close(): void;
}

interface Waiter {
  since: number;
  go: () => void;
  stop: () => void;
}

export function createWaiters(): Waiters {
  const queues: Record<Priority, Turns<Waiter>> = { live: createTurns(), bulk: createTurns() };
  let waits: Record<Priority, number[]> = { live: [], bulk: [] };
  let liveInRow = 0;
  let closed = false;
  return {
    async wait(priority, holder, onGone, signal) {
      signal?.throwIfAborted();
      if (closed) throw rateLimitClosed();
      await enqueue(queues[priority], holder, onGone, signal);
    },
    count: (priority) => queues[priority].count(),
    all: () => queues.live.count() + queues.bulk.count(),
    ahead: (priority, holder) => (priority === 'bulk' ? queues.live.count() : 0) + queues[priority].ahead(holder),
    goNext() {
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
    takeWaits() {
      const taken = waits;
      waits = { live: [], bulk: [] };
      return taken;
    },
    close() {
      closed = true;
      for (const waiter of Object.values(queues).flatMap((queue) => queue.takeAll())) waiter.stop();
    },
  };
}

function enqueue(
  queue: Turns<Waiter>,
  holder: object,
  onGone: () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      queue.remove(holder, waiter);
      reject(signal?.reason as Error);
      onGone();
    };
    const end = (settle: () => void) => () => {
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const waiter: Waiter = { since: performance.now(), go: end(resolve), stop: end(() => reject(rateLimitClosed())) };
    signal?.addEventListener('abort', onAbort, { once: true });
    queue.add(holder, waiter);
  });
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
interface Turns<Waiting> {
  add(holder: object, waiting: Waiting): void;
  remove(holder: object, waiting: Waiting): void;
  next(): Waiting | undefined;
  count(): number;
  /** How many waiting calls go before one that this holder would add now. */
  ahead(holder: object): number;
  takeAll(): Waiting[];
}

function createTurns<Waiting>(): Turns<Waiting> {
  /** In the order of the turns. */
  const queues = new Map<object, Waiting[]>();
  const count = (): number => [...queues.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    add(holder, waiting) {
      const queue = queues.get(holder) ?? [];
      queue.push(waiting);
      queues.set(holder, queue);
    },
    remove(holder, waiting) {
      const queue = queues.get(holder) ?? [];
      queue.splice(queue.indexOf(waiting), 1);
      if (queue.length === 0) queues.delete(holder);
    },
    next() {
      const [turn] = queues;
      if (turn === undefined) return undefined;
      const [holder, queue] = turn;
      queues.delete(holder);
      const waiting = queue.shift();
      if (queue.length > 0) queues.set(holder, queue);
      return waiting;
    },
    count,
    ahead(holder) {
      const own = queues.get(holder)?.length ?? 0;
      return [...queues.values()].reduce((sum, { length }) => sum + Math.min(length, own + 1), 0);
    },
    takeAll() {
      const all = [...queues.values()].flat();
      queues.clear();
      return all;
    },
  };
}
