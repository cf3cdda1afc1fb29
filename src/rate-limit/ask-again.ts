import type { Granted } from './lease-permits.ts';

/** Whoever found no permit asks again about so soon, and in no order. */
const POLL_MS = 80;
/** Exchanges are so far apart at least. */
export const LEAST_MS = 20;
/** And where the store did not answer. */
export const OUTAGE_MS = 1_000;

/** When to ask for permits again, ms; `isLate`: live requests have to wait although others may send. */
export function askAgainMs({ permits, askInMs, leaseMs }: Granted, isLate: boolean, random: number): number {
  if (askInMs === undefined) return isLate ? POLL_MS * random : 0;
  // Asking a little before a share ends, and never in step with the others, leaves no gap.
  const waitMs = permits.length > 0 ? leaseMs * (0.85 + 0.15 * random) : askInMs + POLL_MS * random;
  return Math.max(askInMs, waitMs);
}

/**
 * Requests that come within the next share, after so many were sent in so many ms: whoever sends one at a time has none
 * waiting when permits are leased.
 */
export function expectedAgain(used: number, since: { ms: number; leaseMs: number }): number {
  return since.ms > 2 * since.leaseMs ? 0 : Math.ceil((used * since.leaseMs) / Math.max(since.ms, LEAST_MS));
}
