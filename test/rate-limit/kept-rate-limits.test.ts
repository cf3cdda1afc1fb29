import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { keepRateLimits } from '../../src/rate-limit/kept-rate-limits.ts';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../../src/rate-limit/shared-rate-limit.ts';
import { errorOf } from '../http/servers.ts';

type Name = { tenantId: string; upstream: string };

/** Rate limits of so many calls a second, and the names of those that were opened. */
function keep(rate = 1): { opened: string[]; rateLimitOf: (name: Name) => SharedRateLimit } {
  const opened: string[] = [];
  const rateLimitOf = keepRateLimits((name: Name) => {
    opened.push(name.tenantId);
    let saved: Partial<SharedRateLimitState> = { rate, limit: rate, noise: 0, limitSeen: true, version: 2 };
    return createSharedRateLimit((change) => {
      const { rateLimit, result } = change(saved, Date.now());
      saved = rateLimit ?? saved;
      return Promise.resolve(result);
    });
  });
  return { opened, rateLimitOf };
}

test('a rate limit is opened once, whatever the order of what names it, and anew after its last holder', async () => {
  const { opened, rateLimitOf } = keep();
  const holders = [
    rateLimitOf({ tenantId: 'a', upstream: 'hris' }),
    rateLimitOf({ upstream: 'hris', tenantId: 'a' }),
    rateLimitOf({ tenantId: 'b', upstream: 'hris' }),
  ];
  expect(opened).toEqual(['a', 'b']);
  await Promise.all(holders.map((holder) => holder.close()));
  const anew = rateLimitOf({ tenantId: 'a', upstream: 'hris' });
  expect(opened).toEqual(['a', 'b', 'a']);
  await anew.close();
});

/** Of one rate limit. */
function twoHolders(rate?: number): [SharedRateLimit, SharedRateLimit] {
  const { rateLimitOf } = keep(rate);
  const name = { tenantId: 'a', upstream: 'hris' };
  return [rateLimitOf(name), rateLimitOf(name)];
}

test('holders wait in turn, and a pause of one is at once a pause of the other', async () => {
  const [one, other] = twoHolders();
  await one.acquire('bulk');
  const waiting = Promise.allSettled([one.acquire('bulk')]);
  expect(other.waitMs('bulk')).toBeGreaterThanOrEqual(1_000);
  one.answered({ sentAt: Date.now(), status: 429, retryAfterMs: 60_000 });
  await expect.poll(() => other.waitMs('live'), { interval: 10 }).toBeGreaterThan(50_000);
  await Promise.all([one.close(), other.close(), waiting]);
});

test('closing one holder ends its own waits alone', async () => {
  const [one, other] = twoHolders();
  await one.acquire('live');
  const ended = errorOf(one.acquire('bulk'));
  const goesOn = other.acquire('live');
  await one.close();
  await one.close();
  expect(await ended).toMatchObject({ code: 'CONNECTION_CLOSED', action: 'retry' });
  expect(await errorOf(one.acquire('live'))).toMatchObject({ code: 'CONNECTION_CLOSED' });
  await goesOn;
  await other.close();
});

describe.each(['bulk', 'live'] as const)('beside a tenant with 500 %s calls that wait, another', (priority) => {
  test('has every second permit, and is told so', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const [one, other] = twoHolders(20);
    const went: string[] = [];
    const call = (who: string, holder: SharedRateLimit) => holder.acquire(priority).then(() => went.push(who));
    const calls = Array.from({ length: 500 }, () => call('one', one));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(one.waitMs(priority)).toBeGreaterThan(15_000);
    expect(other.waitMs(priority)).toBeLessThanOrEqual(100);
    calls.push(...Array.from({ length: 3 }, () => call('other', other)));
    const before = went.length;
    await vi.advanceTimersByTimeAsync(500);
    expect(went.slice(before, before + 6).filter((who) => who === 'other')).toHaveLength(3);
    await Promise.all([Promise.allSettled(calls), one.close(), other.close()]);
  });
});
