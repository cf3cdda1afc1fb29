import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { createRateLimiter, type RateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import type { SavedRateLimit } from '../../src/rate-limit/saved-rate-limit.ts';

/** A rate limit in virtual time: admits a request at `now` (ms), or says for how long not. */
export type Limit = (now: number) => { ok: boolean; retryAfterMs: number };

export function fixedWindow(rate: number, windowMs = 10_000): Limit {
  let window = -1;
  let count = 0;
  return (now) => {
    const current = Math.floor(now / windowMs);
    if (current !== window) [window, count] = [current, 0];
    const ok = count < (rate * windowMs) / 1000;
    if (ok) count += 1;
    return { ok, retryAfterMs: (current + 1) * windowMs - now };
  };
}

export function slidingWindow(rate: number, windowMs = 10_000): Limit {
  let taken: number[] = [];
  return (now) => {
    taken = taken.filter((at) => at > now - windowMs);
    const ok = taken.length < (rate * windowMs) / 1000;
    if (ok) taken.push(now);
    return { ok, retryAfterMs: (taken[0] ?? now) + windowMs - now };
  };
}

export function tokenBucket(rate: number, burst: number): Limit {
  let tokens = burst;
  let last = 0;
  return (now) => {
    tokens = Math.min(burst, tokens + ((now - last) * rate) / 1000);
    last = now;
    const ok = tokens >= 1;
    if (ok) tokens -= 1;
    return { ok, retryAfterMs: ((1 - tokens) * 1000) / rate };
  };
}

/** So many calls at once, each of `serviceMs`. */
export function atOnce(most: number, serviceMs: number): Limit {
  let ends: number[] = [];
  return (now) => {
    ends = ends.filter((end) => end > now);
    const ok = ends.length < most;
    if (ok) ends.push(now + serviceMs);
    return { ok, retryAfterMs: 1_000 };
  };
}

export interface Run {
  limit: Limit;
  seconds: number;
  /** Counting starts here. */
  from: number;
  seed?: number;
  noise?: number;
  retryAfter?: boolean;
  /** A live request every so many ms, beside a saturated bulk priority. */
  liveEveryMs?: number;
  saved?: SavedRateLimit;
  workers?: number;
}

export interface RunResult {
  ok: number;
  limited: number;
  perSecond: number;
  share: number;
  liveWaits: number[];
  rateLimit: SavedRateLimit;
}

/** Mulberry32: the same numbers for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A saturated bulk priority (and live requests now and then) before a limited server, on a virtual clock: 4 minutes
 * take milliseconds.
 */
export function simulate(run: Run): RunResult {
  const random = seeded(run.seed ?? 1);
  let now = 0;
  const limiter: RateLimiter = createRateLimiter({ now: () => now, random }, run.saved);
  const arriving: { at: number; sentAt: number }[] = [];
  const result = { ok: 0, limited: 0, liveWaits: [] as number[] };
  let live: number | undefined;
  let nextLive = run.liveEveryMs ?? Number.POSITIVE_INFINITY;
  for (; now < run.seconds * 1000; now += 5) {
    while (arriving[0] !== undefined && arriving[0].at <= now) land(arriving.shift()?.sentAt ?? 0);
    if (now >= nextLive && live === undefined) [live, nextLive] = [now, now + (run.liveEveryMs ?? 0)];
    if (live !== undefined && send('live')) {
      if (now >= run.from * 1000) result.liveWaits.push(now - live);
      live = undefined;
    }
    while (arriving.length < (run.workers ?? 32) && send('bulk'));
  }

  function send(priority: Priority): boolean {
    if (limiter.ask(priority) > 0) return false;
    arriving.push({ at: now + 40 + 40 * random(), sentAt: now });
    arriving.sort((a, b) => a.at - b.at);
    return true;
  }
  function land(sentAt: number): void {
    const noisy = random() < (run.noise ?? 0);
    const answer = noisy ? { ok: false, retryAfterMs: 1000 } : run.limit(now);
    const retryAfterMs = run.retryAfter === false ? undefined : answer.retryAfterMs;
    limiter.answered(answer.ok ? { sentAt, status: 200 } : { sentAt, status: 429, retryAfterMs });
    if (now < run.from * 1000) return;
    if (answer.ok) result.ok += 1;
    else result.limited += 1;
  }
  const counted = run.seconds - run.from;
  return {
    ...result,
    perSecond: result.ok / counted,
    share: result.limited / (result.ok + result.limited),
    rateLimit: limiter.save(),
  };
}
