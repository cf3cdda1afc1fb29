import type { Lane, PaceKeeper } from './rate-limit.ts';
import type { Pacer } from './rate-limiter.ts';

interface Waiter {
  resolve: () => void;
}

/** A pace for one process: queues before a pacer, live first. Processes that share a limit need one that keeps it in the store. */
export function createLocalPace(pacer: Pacer): PaceKeeper {
  const queues: Record<Lane, Waiter[]> = { live: [], bulk: [] };
  let timer: NodeJS.Timeout | undefined;

  function drain(): void {
    clearTimeout(timer);
    timer = undefined;
    const waits = (['live', 'bulk'] as const).map(drainLane);
    const wait = Math.min(...waits);
    if (Number.isFinite(wait)) timer = setTimeout(drain, Math.ceil(wait));
  }

  /** Lets go who may; ms until the next of this lane may, infinite when none waits. */
  function drainLane(lane: Lane): number {
    while (queues[lane].length > 0) {
      const wait = pacer.ask(lane);
      if (wait > 0) return wait;
      queues[lane].shift()?.resolve();
    }
    return Number.POSITIVE_INFINITY;
  }

  return {
    acquire: (lane, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const onAbort = (): void => {
          queues[lane] = queues[lane].filter((other) => other !== waiter);
          reject(signal?.reason as Error);
        };
        const waiter: Waiter = {
          resolve: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        queues[lane].push(waiter);
        drain();
      }),
    answered: (answer) => {
      pacer.answered(answer);
      drain();
    },
  };
}
