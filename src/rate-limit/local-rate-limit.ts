import type { Priority, RateLimitKeeper } from './rate-limit.ts';
import type { RateLimiter } from './rate-limiter.ts';

interface Waiter {
  resolve: () => void;
}

/** A rate limit for one process: queues before a limiter, live first. Processes that share a limit need one that keeps it in the store. */
export function createLocalRateLimit(limiter: RateLimiter): RateLimitKeeper {
  const queues: Record<Priority, Waiter[]> = { live: [], bulk: [] };
  let timer: NodeJS.Timeout | undefined;

  function drain(): void {
    clearTimeout(timer);
    timer = undefined;
    const waits = (['live', 'bulk'] as const).map(drainLane);
    const wait = Math.min(...waits);
    if (Number.isFinite(wait)) timer = setTimeout(drain, Math.ceil(wait));
  }

  /** Lets go who may; ms until the next of this priority may, infinite when none waits. */
  function drainLane(priority: Priority): number {
    while (queues[priority].length > 0) {
      const wait = limiter.ask(priority);
      if (wait > 0) return wait;
      queues[priority].shift()?.resolve();
    }
    return Number.POSITIVE_INFINITY;
  }

  return {
    acquire: (priority, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const onAbort = (): void => {
          queues[priority] = queues[priority].filter((other) => other !== waiter);
          reject(signal?.reason as Error);
        };
        const waiter: Waiter = {
          resolve: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        queues[priority].push(waiter);
        drain();
      }),
    answered: (answer) => {
      limiter.answered(answer);
      drain();
    },
  };
}
