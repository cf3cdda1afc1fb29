import { describe, expect, test } from 'vitest';
import { readAdvertisedBudget } from '../../src/rate-limit/measures.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import type { SavedRateLimit } from '../../src/rate-limit/saved-rate-limit.ts';
import { fixedWindow, type Limit, simulate, slidingWindow, tokenBucket } from './limited-server.ts';

const seeds = [1, 2, 11];
const bank: [string, number, () => Limit][] = [10, 20, 50].flatMap((rate): [string, number, () => Limit][] => [
  [`fixed window of ${rate}/s`, rate, () => fixedWindow(rate)],
  [`sliding window of ${rate}/s`, rate, () => slidingWindow(rate)],
  [`token bucket of ${rate}/s, burst ${rate}`, rate, () => tokenBucket(rate, rate)],
  [`token bucket of ${rate}/s, burst ${2 * rate}`, rate, () => tokenBucket(rate, 2 * rate)],
]);

describe('a saturated backlog, three minutes after one of learning', () => {
  test.each(bank)('on a %s meets few 429s and uses most of the limit', (_name, rate, limit) => {
    for (const seed of seeds) {
      const { perSecond, share } = simulate({ limit: limit(), seconds: 240, from: 60, seed });
      expect(share).toBeLessThan(0.03);
      expect(perSecond / rate).toBeGreaterThan(0.78);
    }
  });

  test.each(bank)('on a %s is not halved by 10 %% of random 429s', (_name, rate, limit) => {
    for (const seed of seeds) {
      const { perSecond } = simulate({ limit: limit(), seconds: 240, from: 60, seed, noise: 0.1 });
      expect(perSecond / rate).toBeGreaterThan(0.5);
    }
  });

  test('goes without Retry-After too', () => {
    const { perSecond, share } = simulate({ limit: fixedWindow(20), seconds: 240, from: 60, retryAfter: false });
    expect(share).toBeLessThan(0.03);
    expect(perSecond).toBeGreaterThan(17);
  });

  test('follows a limit that halves and one that doubles', () => {
    for (const [then, least] of [
      [10, 8],
      [40, 24],
    ] as const) {
      const [before, after] = [fixedWindow(20), fixedWindow(then)];
      const limit: Limit = (now) => (now < 120_000 ? before(now) : after(now));
      const { perSecond, share } = simulate({ limit, seconds: 360, from: 240 });
      expect(perSecond).toBeGreaterThan(least);
      expect(share).toBeLessThan(0.03);
    }
  });
});

test('a partner without a limit is not kept waiting at the first rate', () => {
  const { perSecond } = simulate({ limit: () => ({ ok: true, retryAfterMs: 0 }), seconds: 15, from: 5 });
  expect(perSecond).toBeGreaterThan(50);
});

test('what was learned is not learned again after a restart', () => {
  const first = simulate({ limit: fixedWindow(20), seconds: 240, from: 60 });
  const again = simulate({ limit: fixedWindow(20), seconds: 60, from: 0, saved: first.rateLimit });
  expect(again.limited).toBeLessThanOrEqual(4);
  expect(again.perSecond).toBeGreaterThan(17);
});

test('a live request waits at most two permits behind a saturated bulk priority, pauses apart', () => {
  const saved: SavedRateLimit = { rate: 10, limit: 10, noise: 0, limitSeen: true };
  const { liveWaits } = simulate({
    limit: () => ({ ok: true, retryAfterMs: 0 }),
    seconds: 30,
    from: 0,
    liveEveryMs: 700,
    saved,
  });
  expect(liveWaits.length).toBeGreaterThan(30);
  expect(Math.max(...liveWaits)).toBeLessThanOrEqual(200);
});

/** A limiter at a known rate on a clock of the test's own. */
function at(rate: number) {
  const clock = { ms: 0 };
  const saved: SavedRateLimit = { rate, limit: rate, noise: 0, limitSeen: true };
  const limiter = createRateLimiter({ now: () => clock.ms, random: () => 0.5 }, saved);
  return { clock, limiter };
}

describe('a permit', () => {
  test('comes at the even rate', () => {
    const { clock, limiter } = at(10);
    let gone = 0;
    for (; clock.ms < 10_000; clock.ms += 5) if (limiter.ask('bulk') === 0) gone += 1;
    expect(gone).toBeGreaterThanOrEqual(100);
    expect(gone).toBeLessThanOrEqual(102);
  });

  test('is told in ms when it cannot be had now, and is there then', () => {
    const { clock, limiter } = at(2);
    while (limiter.ask('bulk') === 0);
    clock.ms += limiter.ask('bulk');
    expect(limiter.ask('bulk')).toBe(0);
  });

  test("one in twenty is bulk's even when live asks without end", () => {
    const { clock, limiter } = at(100);
    const gone = { live: 0, bulk: 0 };
    for (; clock.ms < 10_000; clock.ms += 5) {
      for (const priority of ['live', 'bulk'] as const) if (limiter.ask(priority) === 0) gone[priority] += 1;
    }
    expect(gone.bulk / (gone.live + gone.bulk)).toBeGreaterThanOrEqual(0.04);
    expect(gone.live).toBeGreaterThan(gone.bulk);
  });
});

describe('after a 429', () => {
  test('nobody goes for as long as Retry-After says, then all at the even rate', () => {
    const { clock, limiter } = at(100);
    limiter.ask('bulk');
    limiter.answered({ sentAt: clock.ms, status: 429, retryAfterMs: 5_000 });
    expect(limiter.ask('live')).toBe(5_000);
    clock.ms += 5_000;
    expect(limiter.ask('live')).toBe(0);
    clock.ms += 20;
    expect(limiter.ask('live')).toBe(0);
  });

  test('nobody goes for half a second where it does not say, then one alone until its answer', () => {
    const { clock, limiter } = at(100);
    limiter.ask('bulk');
    limiter.answered({ sentAt: clock.ms, status: 429 });
    expect(limiter.ask('live')).toBe(500);
    clock.ms += 500;
    expect(limiter.ask('live')).toBe(0);
    clock.ms += 1000;
    expect(limiter.ask('live')).toBeGreaterThan(0);
    limiter.answered({ sentAt: clock.ms - 900, status: 200 });
    expect(limiter.ask('live')).toBe(0);
  });

  test('waits grow while the one that tries is refused too', () => {
    const { clock, limiter } = at(100);
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      limiter.ask('bulk');
      limiter.answered({ sentAt: clock.ms, status: 429 });
      waits.push(limiter.ask('bulk'));
      clock.ms += limiter.ask('bulk');
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 24_000]);
  });

  test('answers to requests sent before do not cut a second time', () => {
    const { clock, limiter } = at(100);
    clock.ms = 1000;
    limiter.answered({ sentAt: 990, status: 429 });
    const { rate } = limiter.save();
    for (let late = 0; late < 20; late += 1) limiter.answered({ sentAt: 995, status: 429 });
    expect(limiter.save().rate).toBe(rate);
  });

  test('one whose answer is lost does not stop the priority for ever', () => {
    const { clock, limiter } = at(100);
    limiter.answered({ sentAt: 0, status: 429 });
    clock.ms = 500;
    expect(limiter.ask('bulk')).toBe(0);
    clock.ms = 16_000;
    expect(limiter.ask('bulk')).toBe(0);
  });
});

test('an idle priority does not climb', () => {
  const { clock, limiter } = at(100);
  for (let call = 0; call < 5000; call += 1) {
    clock.ms += 1000;
    limiter.ask('bulk');
    limiter.answered({ sentAt: clock.ms, status: 200 });
  }
  expect(limiter.save().rate).toBe(100);
});

describe('headers', () => {
  const now = 1_900_000_000_000;
  test.each<[Record<string, string>, { remaining: number; resetMs: number } | undefined]>([
    [{}, undefined],
    [{ ratelimit: '"p";r=0;t=30' }, { remaining: 0, resetMs: 30_000 }],
    [
      { 'ratelimit-remaining': '5', 'ratelimit-reset': '2' },
      { remaining: 5, resetMs: 2000 },
    ],
    [
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 4) },
      { remaining: 0, resetMs: 4000 },
    ],
    [
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now - 4) },
      { remaining: 0, resetMs: 0 },
    ],
    [
      {
        date: new Date(now - 300_000).toUTCString(),
        'x-ratelimit-remaining': '3',
        'x-ratelimit-reset': String(now / 1000 - 290),
      },
      { remaining: 3, resetMs: 10_000 },
    ],
    [{ 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': '1' }, undefined],
  ])('%j say %j', (headers, expected) => expect(readAdvertisedBudget(headers, now)).toEqual(expected));

  test('that say nothing remains make everybody wait, and the rate stays', () => {
    const { limiter } = at(100);
    limiter.answered({ sentAt: 0, status: 200, headers: { ratelimit: '"p";r=0;t=3' } });
    expect(limiter.ask('live')).toBe(3000);
    expect(limiter.save().rate).toBe(100);
  });
});
