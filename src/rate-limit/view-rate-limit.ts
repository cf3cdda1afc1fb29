import { type SharedRateLimitState, type TrafficView, viewTraffic } from './lease-permits.ts';

/** What was learned about one tenant's limit at one upstream. Rates are calls per second; shares are from 0 to 1. */
export interface RateLimitView extends TrafficView {
  tenantId: string;
  /** `partner` or `hris`, followed by the endpoint if it has a limit of its own. */
  upstream: string;
  state: 'not met yet' | 'looking for noise' | 'paused' | 'learned';
  /** How long no call may be made, as the upstream said with a 429; absent where calls may be made. */
  pausedMs?: number;
  rate: number;
  /** The rate at which the limit is believed to be met; absent until then. */
  limit?: number;
  /** `window`: the limit was met at the end of a window twice in a row. */
  kind: 'unknown' | 'window' | 'advertised window' | 'concurrency' | 'bans';
  /** Share of 429s that come at any rate. */
  noise: number;
  mostInFlight?: number;
  answers: number;
  /** Calls made, as a share of what the learned rate allows. */
  use: number;
}

/** The rate limit as stored; `now` is by the store's clock. */
interface SeenRateLimit {
  tenantId: string;
  upstream: string;
  saved: SharedRateLimitState;
  now: number;
}

export function viewRateLimit({ tenantId, upstream, saved, now }: SeenRateLimit): RateLimitView {
  const { rate, limit, limitSeen, noise, underWay } = saved;
  const most = underWay?.concurrency.most ?? undefined;
  const traffic = viewTraffic(saved.traffic, now);
  const pausedMs = (underWay?.permits.pausedUntil ?? 0) - now;
  return {
    tenantId,
    upstream,
    state: stateOf(saved),
    ...(pausedMs > 0 ? { pausedMs } : {}),
    rate,
    ...(limitSeen ? { limit } : {}),
    kind: kindOf(saved),
    noise,
    ...(most === undefined ? {} : { mostInFlight: most }),
    answers: underWay?.answers ?? 0,
    ...traffic,
    use: traffic.perSecond / rate,
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
