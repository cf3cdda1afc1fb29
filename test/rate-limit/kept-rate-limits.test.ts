import { expect, test } from 'vitest';
import { keepRateLimits } from '../../src/rate-limit/kept-rate-limits.ts';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../../src/rate-limit/shared-rate-limit.ts';
import { errorOf } from '../http/servers.ts';

type Name = { tenantId: string; upstream: string };

/** Rate limits of calls of 1 a second, and the names of those that were opened. */
function keep(): { opened: string[]; rateLimitOf: (name: Name) => SharedRateLimit } {
  const opened: string[] = [];
  const rateLimitOf = keepRateLimits((name: Name) => {
    opened.push(name.tenantId);
    let saved: Partial<SharedRateLimitState> = { rate: 1, limit: 1, noise: 0, limitSeen: true, version: 2 };
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
function twoHolders(): [SharedRateLimit, SharedRateLimit] {
  const { rateLimitOf } = keep();
  const name = { tenantId: 'a', upstream: 'hris' };
  return [rateLimitOf(name), rateLimitOf(name)];
}

test('holders wait in one queue, and a pause of one is at once a pause of the other', async () => {
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
