import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { tokenBucket } from '../limiter/limits.ts';

const CLOSED = '/v1/slow';

/** Half a second for each round trip, one request at a time and endpoint, for ten minutes. */
function drive(limitOf: (endpoint: string) => number) {
  const clock = { ms: 0 };
  const limiter = createRateLimiter({ now: () => clock.ms, random: () => 0.5 });
  const limits = new Map<string, ReturnType<typeof tokenBucket>>();
  const company = tokenBucket(20, 20);
  const went: Record<string, number> = {};
  for (let turn = 0; clock.ms < 600_000; turn += 1) {
    const endpoint = turn % 8 === 0 ? CLOSED : `/v1/${turn % 4}`;
    if (!limits.has(endpoint)) limits.set(endpoint, tokenBucket(limitOf(endpoint), 1));
    clock.ms += 10;
    if (limiter.ask('bulk', endpoint) > 0) continue;
    const own = limits.get(endpoint)!(clock.ms, 0);
    const { ok, retryAfterMs } = own.ok ? company(clock.ms, 0) : own;
    const answer = { sentAt: clock.ms, headers: {}, endpoint, inFlight: 1 };
    limiter.answered(ok ? { ...answer, status: 200 } : { ...answer, status: 429, retryAfterMs });
    if (ok && clock.ms > 300_000) went[endpoint] = (went[endpoint] ?? 0) + 1;
  }
  const perSecond = Object.values(went).reduce((sum, count) => sum + count, 0) / 300;
  return { saved: limiter.save(), perSecond, slowPerSecond: (went[CLOSED] ?? 0) / 300 };
}

describe('an endpoint that refuses while others go through', () => {
  const { perSecond, slowPerSecond, saved } = drive((endpoint) => (endpoint === CLOSED ? 0.5 : 1_000));

  test('has a limit of its own, and most of it is used', () => {
    expect(slowPerSecond).toBeGreaterThan(0.25);
    expect(Object.keys(saved.endpoints?.each ?? {}).filter((name) => saved.endpoints?.each[name]?.own)).toEqual([
      CLOSED,
    ]);
  });

  test('does not hold up the others', () => expect(perSecond).toBeGreaterThan(18));

  test('is known after a restart, and holds back its own requests only', () => {
    const clock = { ms: 600_000 };
    const again = createRateLimiter({ now: () => clock.ms, random: () => 0.5 }, JSON.parse(JSON.stringify(saved)));
    clock.ms += 20_000;
    expect(again.ask('bulk', CLOSED)).toBe(0);
    clock.ms += 200;
    expect(again.ask('bulk', CLOSED)).toBeGreaterThan(0);
    expect(again.ask('bulk', '/v1/1')).toBe(0);
  });
});

test('a limit for all is no limit of one endpoint', () => {
  const { saved, perSecond } = drive(() => 1_000);
  expect(Object.values(saved.endpoints?.each ?? {}).filter(({ own }) => own !== undefined)).toEqual([]);
  expect(perSecond).toBeGreaterThan(18);
});

test('a company that is called at one endpoint, and then at another alone, has one limit', () => {
  const clock = { ms: 0 };
  const limiter = createRateLimiter({ now: () => clock.ms, random: () => 0.5 });
  const company = tokenBucket(10, 5);
  const underWay: { ok: boolean; sentAt: number; endpoint: string; inFlight: number }[] = [];
  // Three minutes of few calls to one, and then as many as may go to the other; round trips of 100 ms.
  for (let askAt = 0; clock.ms < 300_000; clock.ms += 2) {
    while (underWay[0] !== undefined && underWay[0].sentAt + 100 <= clock.ms) {
      const { ok, ...sent } = underWay.shift()!;
      limiter.answered(ok ? { ...sent, status: 200 } : { ...sent, status: 429, retryAfterMs: 1_000 });
    }
    const endpoint = clock.ms < 180_000 ? '/v1/few' : '/v1/many';
    if (clock.ms < askAt || underWay.length >= 16 || limiter.ask('bulk', endpoint) > 0) continue;
    askAt = endpoint === '/v1/few' ? clock.ms + 200 : 0;
    underWay.push({ ok: company(clock.ms, 0).ok, sentAt: clock.ms, endpoint, inFlight: underWay.length + 1 });
  }
  expect(Object.values(limiter.save().endpoints?.each ?? {}).filter(({ own }) => own !== undefined)).toEqual([]);
});
