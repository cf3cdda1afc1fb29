import type { SharedRateLimitState } from '../rate-limit/lease-permits.ts';
import type { Store } from '../store/open-store.ts';
import { readRateLimit as readRow } from '../store/rate-limits.ts';

/** What was learned of one tenant's limit at its partner. Rates are calls a second, shares from 0 to 1. */
export interface RateLimitView {
  tenantId: string;
  state: 'not met yet' | 'looking for noise' | 'paused' | 'learned';
  rate: number;
  /** At which the limit is believed to be met; absent until it is. */
  limit?: number;
  /** `window`: it was met at the end of a window twice in a row. */
  kind: 'unknown' | 'window' | 'advertised window' | 'concurrency' | 'bans';
  /** 429s that come at any rate. */
  noise: number;
  mostInFlight?: number;
  answers: number;
}

/** Undefined where no call was ever made for the tenant. */
export async function readRateLimit(store: Store, tenantId: string): Promise<RateLimitView | undefined> {
  const saved = (await readRow(store, { tenantId, upstream: 'partner' })) as SharedRateLimitState | undefined;
  return saved === undefined ? undefined : viewRateLimit(tenantId, saved);
}

export function viewRateLimit(tenantId: string, saved: SharedRateLimitState): RateLimitView {
  const { rate, limit, limitSeen, noise, underWay } = saved;
  const most = underWay?.concurrency.most ?? undefined;
  return {
    tenantId,
    state: stateOf(saved),
    rate,
    ...(limitSeen ? { limit } : {}),
    kind: kindOf(saved),
    noise,
    ...(most === undefined ? {} : { mostInFlight: most }),
    answers: underWay?.answers ?? 0,
  };
}

function stateOf({ limitSeen, underWay }: SharedRateLimitState): RateLimitView['state'] {
  if (underWay?.meeting) return 'paused';
  if (underWay?.test) return 'looking for noise';
  return limitSeen ? 'learned' : 'not met yet';
}

function kindOf({ underWay }: SharedRateLimitState): RateLimitView['kind'] {
  if (underWay === undefined) return 'unknown';
  if (underWay.concurrency.most !== null) return 'concurrency';
  if (underWay.climb.bans) return 'bans';
  if (underWay.window !== null) return 'advertised window';
  return underWay.climb.isWindow ? 'window' : 'unknown';
}
