import type { LearnedRate } from './saved-rate-limit.ts';

/** When each process last asked, and what it had under way then. */
export type Sharers = Record<string, { at: number; inFlight: number }>;

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
  { sharer, inFlight }: { sharer: string; inFlight: number },
  now: number,
): Sharers {
  const isPresent = (at: number): boolean => at > now - SHARER_MS && at <= now + AHEAD_MS;
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && isPresent(one.at));
  return { ...Object.fromEntries(others), [sharer]: { at: now, inFlight } };
}

/** Whether a process must be seen again to keep its share of the requests under way. */
export function isFadingFrom(known: Sharers | undefined, sharer: string, now: number): boolean {
  return now - (known?.[sharer]?.at ?? 0) > SHARER_MS / 4;
}

/** How far ahead permits are leased, ms. Until a limit is met the rate doubles too fast to lease far. */
export function leaseOf({ rate, limitSeen }: LearnedRate, isAlone: boolean): number {
  if (!isAlone || !limitSeen) return SHARE_MS;
  return Math.min(Math.max((ALONE.permits * 1000) / rate, ALONE.least), ALONE.most);
}

/**
 * Divided evenly, so that no process needs to ask before each request. Where there are fewer than processes, they take
 * turns.
 */
export function shareOf(most: number, ids: readonly string[], own: string, now: number): number {
  const turn = Math.floor(now / SHARER_MS);
  const place = (ids.toSorted().indexOf(own) + turn) % ids.length;
  return Math.floor(most / ids.length) + (place < most % ids.length ? 1 : 0);
}
