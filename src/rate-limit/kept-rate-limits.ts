import type { Priority, RateLimitKeeper } from './rate-limit.ts';
import type { SharedRateLimit } from './shared-rate-limit.ts';
import { rateLimitClosed } from './waiters.ts';

interface Kept {
  rateLimit: SharedRateLimit;
  holders: number;
}

/**
 * Opens each rate limit once per process, no matter how many hold it, and closes it with its last holder: tenants of
 * one account that leased permits separately would count as separate processes. Holders take turns.
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

/** One holder's view of a rate limit. After it closes, its own calls get no permit; other holders are not affected. */
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

/** A rate limit and those of its endpoints, as one keeper for the sender. */
export interface LimitedEndpoints extends RateLimitKeeper {
  close(): Promise<void>;
}

/**
 * The shared rate limit of a company at its partner, plus one for each endpoint that refuses while other endpoints
 * work, opened at the first call to it. Such a call first gets a permit of its endpoint, so that it holds no company
 * permit while it waits. It then gets a company permit ahead of bulk, because a late call would collide with the next
 * one at the endpoint.
 */
export function withEndpoints(open: (upstream: string) => SharedRateLimit): LimitedEndpoints {
  const company = open('partner');
  const opened = new Map<string, SharedRateLimit>();
  const ownOf = (endpoint: string | undefined): SharedRateLimit | undefined => {
    if (endpoint === undefined || !company.ownEndpoints().includes(endpoint)) return undefined;
    const own = opened.get(endpoint) ?? open(`partner/${endpoint}`);
    opened.set(endpoint, own);
    return own;
  };
  return {
    async acquire(priority, signal, endpoint) {
      for (;;) {
        const own = ownOf(endpoint);
        if (own === undefined) await company.acquire(priority, signal);
        else await acquireBoth(own, company, priority, signal);
        if (own !== undefined || ownOf(endpoint) === undefined) return;
        // The endpoint's own limit was found while the call waited.
        notUsed(company);
      }
    },
    answered(answer) {
      company.answered(answer);
      if (answer.endpoint !== undefined) opened.get(answer.endpoint)?.answered(answer);
    },
    waitMs: (priority, endpoint) => Math.max(company.waitMs(priority), ownOf(endpoint)?.waitMs(priority) ?? 0),
    perSecond: (endpoint) => Math.min(company.perSecond(), ownOf(endpoint)?.perSecond() ?? Number.POSITIVE_INFINITY),
    async close() {
      await Promise.all([company, ...opened.values()].map((rateLimit) => rateLimit.close()));
    },
  };
}

async function acquireBoth(
  own: SharedRateLimit,
  company: SharedRateLimit,
  priority: Priority,
  signal: AbortSignal | undefined,
): Promise<void> {
  await own.acquire(priority, signal);
  try {
    await company.acquire('live', signal);
  } catch (error) {
    notUsed(own);
    throw error;
  }
}

/** Reports an unused permit: each permit must be reported once. */
function notUsed(rateLimit: SharedRateLimit): void {
  rateLimit.answered({ sentAt: Date.now(), status: 0 });
}
