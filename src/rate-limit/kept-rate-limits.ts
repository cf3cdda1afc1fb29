import type { SharedRateLimit } from './shared-rate-limit.ts';
import { rateLimitClosed } from './waiters.ts';

interface Kept {
  rateLimit: SharedRateLimit;
  holders: number;
}

/**
 * Opens each rate limit once in a process, however many hold it, and closes it with its last holder: tenants of one
 * account that leased their permits apart would count as processes of their own. Holders have their permits in turn.
 */
export function keepRateLimits<Limited extends object>(
  open: (limited: Limited) => SharedRateLimit,
): (limited: Limited) => SharedRateLimit {
  const all = new Map<string, Kept>();
  return (limited) => {
    const name = JSON.stringify(Object.entries(limited).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const kept = all.get(name) ?? { rateLimit: open(limited), holders: 0 };
    all.set(name, kept);
    kept.holders += 1;
    return hold(kept.rateLimit, async () => {
      kept.holders -= 1;
      if (kept.holders > 0) return;
      all.delete(name);
      await kept.rateLimit.close();
    });
  };
}

/** What one holder has of it. Once it is closed, its own calls get no permit; those of the others do. */
function hold(rateLimit: SharedRateLimit, release: () => Promise<void>): SharedRateLimit {
  const closed = new AbortController();
  return {
    acquire(priority, signal) {
      const ends = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
      return rateLimit.acquire(priority, ends, undefined, closed);
    },
    answered: (answer) => rateLimit.answered(answer),
    waitMs: (priority) => rateLimit.waitMs(priority, undefined, closed),
    perSecond: () => rateLimit.perSecond(),
    ownEndpoints: () => rateLimit.ownEndpoints(),
    async close() {
      if (closed.signal.aborted) return;
      closed.abort(rateLimitClosed());
      await release();
    },
  };
}
