import { describe, expect, test } from 'vitest';
import {
  freshConcurrency,
  lowerConcurrency,
  noteClean,
  type SavedConcurrency,
} from '../../src/rate-limit/concurrency-limit.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { seeded } from './limited-server.ts';

function concurrency(change: Partial<SavedConcurrency> = {}): SavedConcurrency {
  return { ...freshConcurrency, ...change };
}

describe('a limit of calls under way', () => {
  test('is tried one below what a 429 came with, and stays away from an even rate limit of two', () => {
    const tried = concurrency();
    expect(lowerConcurrency(tried, 6, 1_000)).toBe(true);
    expect(tried).toMatchObject({ most: 5, isSure: false });
    const even = concurrency();
    expect(lowerConcurrency(even, 2, 1_000)).toBe(false);
    expect(even.most).toBeNull();
  });

  test('that does not silence the 429s is given up for ten minutes, and the rate is cut instead', () => {
    const tried = concurrency();
    expect([0, 1, 2, 3].map((n) => lowerConcurrency(tried, 6, n * 1_000))).toEqual([true, true, true, false]);
    expect(tried.most).toBeNull();
    expect(lowerConcurrency(tried, 6, 500_000)).toBe(false);
    expect(lowerConcurrency(tried, 6, 700_000)).toBe(true);
  });

  test('that is silent for 200 answers and 15 s is believed, and widened only while it is full', () => {
    const tried = concurrency();
    lowerConcurrency(tried, 6, 0);
    for (let n = 0; n < 199; n += 1) noteClean(tried, 5, n * 100);
    expect(tried.isSure).toBe(false);
    noteClean(tried, 5, 20_000);
    expect(tried.isSure).toBe(true);
    for (let n = 0; n < 5_000; n += 1) noteClean(tried, 3, 30_000);
    expect(tried.most).toBe(5);
    noteClean(tried, 5, 40_000);
    expect(tried.most).toBe(6);
    expect(lowerConcurrency(tried, 6, 41_000)).toBe(true);
    expect(tried).toMatchObject({ most: 5, raiseAfter: 4_000 });
  });
});

/** Calls of 200 to 300 ms before a server that takes five at once, on a clock of the test's own. */
function pullThroughFive(seconds: number): { ok: number; limited: number } {
  const random = seeded(3);
  const clock = { ms: 0 };
  const limiter = createRateLimiter({ now: () => clock.ms, random });
  const result = { ok: 0, limited: 0 };
  let underWay: { sentAt: number; endsAt: number; limited: boolean }[] = [];
  for (; clock.ms < seconds * 1_000; clock.ms += 5) {
    for (const call of underWay.filter((one) => one.endsAt <= clock.ms)) {
      const inFlight = underWay.length;
      underWay = underWay.filter((one) => one !== call);
      const { sentAt, limited } = call;
      limiter.answered({ sentAt, inFlight, ...(limited ? { status: 429, retryAfterMs: 1_000 } : { status: 200 }) });
      if (clock.ms > 60_000) result[limited ? 'limited' : 'ok'] += 1;
    }
    while (underWay.length < (limiter.mostInFlight() ?? 32) && limiter.ask('bulk') === 0) {
      const limited = underWay.filter((one) => !one.limited).length >= 5;
      underWay.push({ sentAt: clock.ms, endsAt: clock.ms + (limited ? 5 : 200 + 100 * random()), limited });
    }
  }
  return result;
}

test('a limit of five calls under way is found, and nearly all of it used', () => {
  const { ok, limited } = pullThroughFive(240);
  expect(limited / (ok + limited)).toBeLessThan(0.03);
  // Five at once, a quarter of a second each.
  expect(ok / 180).toBeGreaterThan(0.85 * 20);
});
