/** When each of many things may be tried again: soon after a success, ever later after failures in a row. */
export interface BackOff {
  isDue(key: string): boolean;
  hasFailed(key: string): boolean;
  succeeded(key: string, againMs: number): void;
  failed(key: string): void;
  /** Its failures no longer count: it is due now. */
  forget(key: string): void;
}

/** `firstMs` after a first failure, twice as long after each further one, `mostMs` at most. */
export function createBackOff(firstMs: number, mostMs: number, now: () => number = () => performance.now()): BackOff {
  const states = new Map<string, { dueAt: number; failures: number }>();
  return {
    isDue: (key) => (states.get(key)?.dueAt ?? Number.NEGATIVE_INFINITY) <= now(),
    hasFailed: (key) => (states.get(key)?.failures ?? 0) > 0,
    succeeded: (key, againMs) => void states.set(key, { dueAt: now() + againMs, failures: 0 }),
    failed(key) {
      const failures = states.get(key)?.failures ?? 0;
      states.set(key, { dueAt: now() + Math.min(mostMs, firstMs * 2 ** failures), failures: failures + 1 });
    },
    forget: (key) => void states.delete(key),
  };
}
