import type { LearnedRate } from './saved-rate-limit.ts';

/** A process that shares a rate limit, as it was when it last asked. */
export interface Sharer {
  at: number;
  /** Its calls under way. */
  inFlight: number;
  /** Those, and the ones that wait. */
  needs?: number;
  /** So many it may have under way, where their number is limited. */
  most?: number | undefined;
}

export type Sharers = Record<string, Sharer>;

/** A process leases the permits of so many ms, or one: a saturated tenant costs less than two writes a second. */
export const SHARE_MS = 600;
/** Whoever is alone leases so many permits, or those of so many ms. */
const ALONE = { permits: 12, least: SHARE_MS, most: 2_000 };
/** A process that did not ask for so long no longer shares; longer than any lease. */
const SHARER_MS = 4_000;
/** Further ahead it asked before the clock was set back. */
const AHEAD_MS = 1_000;

export function sharersNow(
  known: Sharers,
  { sharer, inFlight, needs }: { sharer: string; inFlight: number; needs: number },
  now: number,
): Sharers {
  const isPresent = (at: number): boolean => at > now - SHARER_MS && at <= now + AHEAD_MS;
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && isPresent(one.at));
  return { ...Object.fromEntries(others), [sharer]: { at: now, inFlight, needs } };
}

/** Whether a process must be seen again, to keep its share of the calls under way or to be given another. */
export function mustBeSeen(known: Sharer | undefined, now: Sharer): boolean {
  if (known === undefined || now.at - known.at > SHARER_MS / 4) return true;
  const wants = (one: Sharer): number => Math.min(one.needs ?? 0, (now.most ?? 0) + 1);
  return known.most !== now.most || wants(known) !== wants(now);
}

/** How far ahead permits are leased, ms. Until a limit is met the rate doubles too fast to lease far. */
export function leaseOf({ rate, limitSeen }: LearnedRate, isAlone: boolean): number {
  if (!isAlone || !limitSeen) return SHARE_MS;
  return Math.min(Math.max((ALONE.permits * 1000) / rate, ALONE.least), ALONE.most);
}
