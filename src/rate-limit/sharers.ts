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
  /** Its bulk calls that wait. */
  bulk?: number;
  /** Permits that it had in the last seconds, the older ones in part. */
  had?: number;
}

export type Sharers = Record<string, Sharer>;

/** A process leases the permits of so many ms, or one: a saturated tenant costs less than two writes a second. */
export const SHARE_MS = 600;
/** Whoever is alone leases so many permits, or those of so many ms. */
const ALONE = { permits: 12, least: SHARE_MS, most: 2_000 };
/** What a process had counts for so long; whoever had so much more than the others leases so much less far ahead. */
const EVEN = { memoryMs: 10_000, most: 1.05, reach: 0.7 };
/** A process that did not ask for so long no longer shares; longer than any lease. */
const SHARER_MS = 4_000;
/** Further ahead it asked before the clock was set back. */
const AHEAD_MS = 1_000;

/** Those who share the rate limit now: all, the one that asks, and the others. */
export function sharersNow(
  known: Sharers,
  { sharer, inFlight, needs, live }: { sharer: string; inFlight: number; needs: number; live: number },
  now: number,
): { sharers: Sharers; own: Sharer & { had: number }; others: Sharer[] } {
  const isPresent = (at: number): boolean => at > now - SHARER_MS && at <= now + AHEAD_MS;
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && isPresent(one.at));
  const own = { at: now, inFlight, needs, bulk: needs - inFlight - live, had: hadLately(known[sharer], now) };
  return { sharers: { ...Object.fromEntries(others), [sharer]: own }, own, others: others.map(([, one]) => one) };
}

/** Permits that a process had in the last seconds. */
function hadLately(known: Sharer | undefined, now: number): number {
  const { at = now, had = 0 } = known ?? {};
  return had * Math.exp(Math.min(0, at - now) / EVEN.memoryMs);
}

/**
 * How far ahead a process leases for bulk, ms: less far where it had more than those whose bulk waits. What it leaves
 * is theirs; otherwise whoever asks at the better moment does so again and again.
 */
export function reachOf(own: { at: number; had: number }, others: readonly Sharer[], leaseMs: number): number {
  const wanting = others.filter(({ at, bulk = 0 }) => bulk > 0 && at > own.at - 2 * leaseMs);
  const theirs = wanting.reduce((sum, other) => sum + hadLately(other, own.at), 0) / wanting.length;
  return own.had > EVEN.most * theirs ? EVEN.reach * leaseMs : leaseMs;
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
