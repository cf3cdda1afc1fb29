import { inActivity } from '../failpoint.ts';
import type { Logger } from '../log.ts';
import type { SharedRateLimitState } from '../rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../rate-limit/shared-rate-limit.ts';
import { type RateLimitView, viewRateLimit } from '../rate-limit/view-rate-limit.ts';
import type { Store } from './open-store.ts';
import {
  changeRateLimit,
  createRateLimitList,
  type ListedRateLimit,
  listRateLimits,
  type RateLimitKey,
} from './rate-limits.ts';

/** What a rate limit applies to: calls of a tenant to its partner, or of an account to its HR system or an endpoint. */
export interface Limited extends RateLimitKey {
  /** A ceiling; see ceiling.ts. */
  share?: number | undefined;
}

/**
 * The owner of calls to an HR system: a connection is one account for all tenants that share it. No tenant can have
 * such a name.
 */
export function hrisAccount(connection: string): string {
  return `hris:${connection}`;
}

/** Opens a rate limit that every worker of this store shares. */
export function openRateLimit(store: Store, { share, ...key }: Limited, log: Logger): SharedRateLimit {
  return createSharedRateLimit(
    (change) =>
      // Attributes the change to the rate limit, since the permits are for all activities.
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

/** What the limits learned and how calls fare, for some owners or all. Every display of limits uses this. */
export async function viewRateLimits(store: Store, owners?: readonly string[]): Promise<RateLimitView[]> {
  return (await listRateLimits(store, owners)).map(viewOf);
}

/** The same for all owners, again and again: what did not change since the last time is not read again. */
export function createRateLimitViews(store: Store): () => Promise<RateLimitView[]> {
  const list = createRateLimitList(store);
  return async () => (await list()).map(viewOf);
}

function viewOf({ rateLimit, ...row }: ListedRateLimit): RateLimitView {
  return viewRateLimit({ ...row, saved: rateLimit as SharedRateLimitState });
}
