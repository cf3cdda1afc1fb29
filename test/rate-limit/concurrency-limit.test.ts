import { describe, expect, test } from 'vitest';
import { blameConcurrency, freshConcurrency, noteClean, type SavedConcurrency } from '../../src/rate-limit/measures.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { seeded } from './limited-server.ts';

function concurrency(): SavedConcurrency {
  return structuredClone(freshConcurrency);
}

/** Answers to calls that left with so many under way. */
function clean(saved: SavedConcurrency, inFlight: number, answers: number): void {
  for (let n = 0; n < answers; n += 1) noteClean(saved, inFlight);
}

describe('a limit of calls under way', () => {
  test('is believed when four refusals came above a number that is fine', () => {
    const saved = concurrency();
    clean(saved, 5, 100);
    expect([1, 2, 3, 4].map(() => blameConcurrency(saved, 6))).toEqual([false, false, false, true]);
    expect(saved.most).toBe(5);
  });

  test('is not believed where as many under way are mostly let through', () => {
    const saved = concurrency();
    clean(saved, 5, 100);
    clean(saved, 6, 100);
    expect([1, 2, 3, 4, 5, 6].map(() => blameConcurrency(saved, 6))).not.toContain(true);
    expect(saved.most).toBeNull();
  });

  test('is believed when six refusals came with so many under way as few successes had', () => {
    const saved = concurrency();
    clean(saved, 5, 1_000);
    clean(saved, 6, 40);
    expect([1, 2, 3, 4, 5, 6].map(() => blameConcurrency(saved, 6))).toEqual([false, false, false, false, false, true]);
    expect(saved.most).toBe(5);
  });

  test('is given up when refusals come with fewer under way', () => {
    const saved = { ...concurrency(), most: 5 };
    clean(saved, 2, 100);
    for (let n = 0; n < 4; n += 1) blameConcurrency(saved, 2);
    expect(saved.most).toBeNull();
  });

  test('is tried with one more now and then, while it is full', () => {
    const saved = { ...concurrency(), most: 5 };
    clean(saved, 3, 5_000);
    expect(saved.most).toBe(5);
    clean(saved, 5, 300);
    expect(saved.most).toBe(6);
  });

  test('is tried again after four times as long where one more was refused', () => {
    const saved = { ...concurrency(), most: 6 };
    clean(saved, 5, 100);
    expect(blameConcurrency(saved, 6)).toBe(true);
    expect(saved).toMatchObject({ most: 5, raiseAfter: 1_200 });
  });
});

/** Calls of 200 to 300 ms before a server that takes five at once, on a clock of the test's own. */
function pullThroughFive(seconds: number): { ok: number; limited: number } {
  const random = seeded(3);
  const clock = { ms: 0 };
  const limiter = createRateLimiter({ now: () => clock.ms, random });
  const result = { ok: 0, limited: 0 };
  let underWay: { sentAt: number; inFlight: number; endsAt: number; limited: boolean }[] = [];
  for (; clock.ms < seconds * 1_000; clock.ms += 5) {
    for (const call of underWay.filter((one) => one.endsAt <= clock.ms)) {
      underWay = underWay.filter((one) => one !== call);
      const { sentAt, inFlight, limited } = call;
      limiter.answered({ sentAt, inFlight, ...(limited ? { status: 429, retryAfterMs: 1_000 } : { status: 200 }) });
      if (clock.ms > 60_000) result[limited ? 'limited' : 'ok'] += 1;
    }
    while (underWay.length < (limiter.mostInFlight() ?? 32) && limiter.ask('bulk') === 0) {
      const limited = underWay.filter((one) => !one.limited).length >= 5;
      const endsAt = clock.ms + (limited ? 5 : 200 + 100 * random());
      underWay.push({ sentAt: clock.ms, inFlight: underWay.length + 1, endsAt, limited });
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
