import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import {
  type ChangeRateLimit,
  createSharedRateLimit,
  type SharedRateLimit,
} from '../../src/rate-limit/shared-rate-limit.ts';
import { errorOf } from '../http/servers.ts';

type State = Partial<SharedRateLimitState>;

/** A rate limit of one process, its state in memory. */
function rateLimitOf(rate: number): SharedRateLimit {
  let saved: State = { rate, limit: rate, noise: 0, limitSeen: true, version: 2 };
  return createSharedRateLimit((change) => {
    const { rateLimit, result } = change(saved, Date.now());
    saved = rateLimit ?? saved;
    return Promise.resolve(result);
  });
}

const LEARNED: State = { rate: 20, limit: 20, noise: 0, limitSeen: true, version: 2 };

/** A store that can be away. */
function storeOf(saved: State): {
  change: ChangeRateLimit;
  setAway: (isAway: boolean) => void;
  leasedTo: () => number;
} {
  let [state, isAway] = [saved, false];
  return {
    change: (change) => {
      if (isAway) return Promise.reject(new Error('away'));
      const { rateLimit, result } = change(state, Date.now());
      state = rateLimit ?? state;
      return Promise.resolve(result);
    },
    setAway: (is) => {
      isAway = is;
    },
    leasedTo: () => state.underWay?.permits.tat ?? 0,
  };
}

describe('a shared rate limit', () => {
  test('lets live go before bulk that has waited longer', async () => {
    const rateLimit = rateLimitOf(50);
    const order: string[] = [];
    const bulk = Array.from({ length: 15 }, () => rateLimit.acquire('bulk').then(() => order.push('bulk')));
    const live = rateLimit.acquire('live').then(() => order.push('live'));
    await Promise.all([...bulk, live]);
    expect(order.indexOf('live')).toBeLessThan(8);
    expect(order).toHaveLength(16);
    await rateLimit.close();
  });

  test('says how long a call would wait: behind those that wait, and for the rest of a pause', async () => {
    const rateLimit = rateLimitOf(1);
    expect(rateLimit.waitMs('bulk')).toBe(0);
    await rateLimit.acquire('bulk');
    const ends = Promise.allSettled([rateLimit.acquire('bulk'), rateLimit.acquire('bulk')]);
    expect({ bulk: rateLimit.waitMs('bulk'), live: rateLimit.waitMs('live') }).toEqual({ bulk: 2_000, live: 0 });
    rateLimit.answered({ sentAt: Date.now(), status: 429, retryAfterMs: 60_000 });
    await expect.poll(() => rateLimit.waitMs('live'), { interval: 10 }).toBeGreaterThan(50_000);
    await rateLimit.close();
    await ends;
  });

  test('sends no burst on permits that were not used in time: they leave half an interval apart', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const rateLimit = rateLimitOf(50);
    const stop = new AbortController();
    const given = Promise.allSettled(Array.from({ length: 12 }, () => rateLimit.acquire('bulk', stop.signal)));
    await vi.advanceTimersByTimeAsync(50);
    stop.abort();
    await vi.advanceTimersByTimeAsync(100);
    const sentAt: number[] = [];
    for (let n = 0; n < 4; n += 1) void rateLimit.acquire('bulk').then(() => sentAt.push(performance.now()));
    await vi.advanceTimersByTimeAsync(100);
    expect(sentAt.slice(1).map((at, n) => at - sentAt[n]!)).toEqual([10, 10, 10]);
    await Promise.all([rateLimit.close(), given]);
  });

  test('gives back what it did not use once the store is there again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const store = storeOf(LEARNED);
    const rateLimit = createSharedRateLimit(store.change);
    const stop = new AbortController();
    const given = Promise.allSettled(Array.from({ length: 12 }, () => rateLimit.acquire('bulk', stop.signal)));
    await vi.advanceTimersByTimeAsync(50);
    stop.abort();
    const leasedTo = store.leasedTo();
    store.setAway(true);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(store.leasedTo()).toBe(leasedTo);
    store.setAway(false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(store.leasedTo()).toBeLessThan(leasedTo - 300);
    await Promise.all([rateLimit.close(), given]);
  });

  test('gives up a place when its signal is aborted', async () => {
    const rateLimit = rateLimitOf(1);
    const cancel = new AbortController();
    await rateLimit.acquire('bulk');
    const waiting = rateLimit.acquire('bulk', cancel.signal);
    cancel.abort(new Error('no longer wanted'));
    expect((await errorOf(waiting)).message).toBe('no longer wanted');
    await rateLimit.close();
  });
});
