import type { Granted } from './lease-permits.ts';

/** Whoever found no permit asks again about so soon, and in no order. */
const POLL_MS = 80;
/** Exchanges are so far apart at least. */
export const LEAST_MS = 20;
/** And where the store did not answer. */
export const OUTAGE_MS = 1_000;
/** Whoever ran out of permits is given so many times those that it used: how many it would have used is a guess. */
const STARVED = 2;

/** When to ask for permits again, ms; `isLate`: live requests have to wait although others may send. */
export function askAgainMs({ permits, askInMs, leaseMs }: Granted, isLate: boolean, random: number): number {
  if (askInMs === undefined) return isLate ? POLL_MS * random : 0;
  // Asking a little before a share ends, and never in step with the others, leaves no gap.
  const waitMs = permits.length > 0 ? leaseMs * (0.85 + 0.15 * random) : askInMs + POLL_MS * random;
  return Math.max(askInMs, waitMs);
}

/** Permits that a process uses between two exchanges, which say how many it will. */
export interface Usage {
  any(): boolean;
  /** `isLast`: of all that it had. */
  note(isLast: boolean): void;
  /**
   * Requests that come within the next share, after so many were sent since the last exchange: whoever sends one at a
   * time has none waiting when permits are leased. `isStarved`: it would have sent more, had there been permits.
   */
  expected(since: { at: number; leaseMs: number; isStarved: boolean }): number;
  /** At an exchange. */
  forget(): void;
}

export function createUsage(): Usage {
  let used = 0;
  let ranOutAt: number | undefined;
  return {
    any: () => used > 0,
    note(isLast) {
      used += 1;
      if (isLast) ranOutAt = performance.now();
    },
    expected({ at, leaseMs, isStarved }) {
      const starvedAt = isStarved ? ranOutAt : undefined;
      const ms = (starvedAt ?? performance.now()) - at;
      const more = starvedAt === undefined ? 1 : STARVED;
      return ms > 2 * leaseMs ? 0 : Math.ceil((more * used * leaseMs) / Math.max(ms, LEAST_MS));
    },
    forget: () => {
      used = 0;
      ranOutAt = undefined;
    },
  };
}
