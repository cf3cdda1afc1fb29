import { inActivity } from '../failpoint.ts';
import type { Logger } from '../log.ts';
import type { SharedRateLimitState } from '../rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../rate-limit/shared-rate-limit.ts';
import { type RateLimitView, viewRateLimit } from '../rate-limit/view-rate-limit.ts';
import type { Store } from './open-store.ts';
import { changeRateLimit, listRateLimits, type RateLimitKey } from './rate-limits.ts';

/** What is limited: the calls of a tenant at its partner, or of an account at its HR system or one endpoint of it. */
export interface Limited extends RateLimitKey {
  /** A ceiling; see ceiling.ts. */
  share?: number | undefined;
}

/**
 * Whose calls those to an HR system are: one connection is one account, whichever tenants share it. No tenant has such
 * a name.
 */
export function hrisAccount(connection: string): string {
  return `hris:${connection}`;
}

/** Opens a rate limit that every worker of this store shares. */
export function openRateLimit(store: Store, { share, ...key }: Limited, log: Logger): SharedRateLimit {
  return createSharedRateLimit(
    (change) =>
      // Whichever activity happens to ask, the permits are for all of them.
      inActivity('rateLimit', () =>
        changeRateLimit(store, key, (saved, now) => {
          const { rateLimit, result } = change((saved ?? {}) as Partial<SharedRateLimitState>, now);
          if (rateLimit === undefined) return { result };
          return { rateLimit, result, pausedUntil: Math.ceil(rateLimit.underWay?.permits.pausedUntil ?? 0) };
        }),
      ),
    {
      share,
      onOutage: (error) => log.error({ ...key, err: error }, 'shared rate limit unavailable, calls wait'),
    },
  );
}

/** What was learned and what becomes of the calls: of one owner or of all. The one source of whoever shows it. */
export async function viewRateLimits(store: Store, owners?: readonly string[]): Promise<RateLimitView[]> {
  const rows = await listRateLimits(store, owners);
  return rows.map(({ rateLimit, ...row }) => viewRateLimit({ ...row, saved: rateLimit as SharedRateLimitState }));
}
