import type { LeaseClock } from './growth-ahead.ts';
import { LEAD_REACH_MS } from './live-lead.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** What a process wants of an exchange. */
interface Wanted {
  /** Requests in each priority. */
  live: number;
  bulk: number;
  /** How far ahead permits are leased. */
  leaseMs: number;
  /** Of bulk's permits. */
  reachMs: number;
  /** Permits of a lead. */
  length: number;
  /** Bulk has no permit, and those of live requests of others reach further than a share. */
  isStarved: boolean;
}

interface Lease {
  /** When each may be used. */
  permits: number[];
  /** Nothing more is available for so long; undefined: all that was asked for is there. */
  askInMs: number | undefined;
}

/**
 * Permits for those that wait and have none, as far as a share reaches; for live requests as far again, and for a lead
 * of `length` permits, or starved bulk's first, however far. `grownBy`: the rate of the last over the one that stands.
 */
export function grantPermits(
  limiter: RateLimiter,
  clock: LeaseClock,
  wanted: Wanted,
  valid: number,
): Lease & { grownBy: number } {
  const now = clock.at;
  const granted = grantAhead(limiter, clock, wanted, valid);
  const grownBy = clock.growth(clock.at);
  // What is saved by a clock that is far ahead is taken for one that was set back.
  clock.at = now;
  return { ...granted, grownBy };
}

function grantAhead(
  limiter: RateLimiter,
  clock: LeaseClock,
  { live, bulk, leaseMs, reachMs, length, isStarved }: Wanted,
  valid: number,
): Lease {
  const now = clock.at;
  const permits: number[] = [];
  const missing = Math.max(0, live + bulk - valid);
  for (let n = 0; n < missing; n += 1) {
    const priority = n < live ? 'live' : 'bulk';
    const isFar = n < length || (isStarved && n === 0);
    const until = now + (isFar ? LEAD_REACH_MS : priority === 'live' ? 2 * leaseMs : reachMs);
    let wait = limiter.ask(priority);
    while (wait > 0 && clock.at + wait <= until) {
      clock.at += wait;
      wait = limiter.ask(priority);
    }
    if (wait > 0) return { permits, askInMs: Math.min(Math.max(clock.at + wait - now - leaseMs, 0), 60_000) };
    permits.push(clock.at);
  }
  return { permits, askInMs: undefined };
}
