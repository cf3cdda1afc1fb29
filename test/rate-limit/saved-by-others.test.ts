import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import type { SavedRateLimit } from '../../src/rate-limit/saved-rate-limit.ts';
import { fixedWindow } from '../limiter/limits.ts';

/** After two minutes before a fixed window of 200 per 10 s. */
const earlier: SavedRateLimit = JSON.parse(
  readFileSync(new URL('./saved-by-an-earlier-core.json', import.meta.url), 'utf8'),
);

/** Ten minutes before the same window, from what was saved. */
function goOn(saved: unknown) {
  const clock = { ms: 200_000 };
  const limiter = createRateLimiter({ now: () => clock.ms, random: () => 0.5 }, saved as SavedRateLimit);
  const limit = fixedWindow(200, 10_000);
  const went = { ok: 0, refused: 0 };
  for (let turn = 0; clock.ms < 800_000; turn += 1) {
    for (let wait = limiter.ask('bulk'); wait > 0; wait = limiter.ask('bulk')) clock.ms += wait;
    const { ok, retryAfterMs } = limit(clock.ms, 0);
    went[ok ? 'ok' : 'refused'] += 1;
    const answer = { sentAt: clock.ms, headers: {}, inFlight: 1, endpoint: turn % 10 === 0 ? 'a' : 'b' };
    limiter.answered(ok ? { ...answer, status: 200 } : { ...answer, status: 429, retryAfterMs });
  }
  return { ...went, saved: limiter.save() };
}

describe('what an earlier version saved', () => {
  const { ok, refused } = goOn(earlier);

  test('is known: the rate is not learned again', () => {
    expect(ok / 600).toBeGreaterThan(19.5);
    expect(refused / ok).toBeLessThan(0.005);
  });

  test('is kept beside what this one adds, so that both can share a store', () => {
    const { saved } = goOn(earlier);
    expect(Object.keys(saved)).toEqual(expect.arrayContaining(Object.keys(earlier)));
    expect(Object.keys(saved.underWay ?? {})).toEqual(expect.arrayContaining(Object.keys(earlier.underWay ?? {})));
  });
});

test.each([
  ['an empty object', {}],
  ['a rate that is no number', { ...earlier, rate: null }],
  ['a moment without its parts', { ...earlier, underWay: { savedAt: 190_000 } }],
  ['parts without their fields', { ...earlier, underWay: { ...earlier.underWay, row: {}, climb: {}, permits: {} } }],
  ['a moment of a clock that went back', { ...earlier, underWay: { ...earlier.underWay, savedAt: 9e12 } }],
])('%s is no reason to fail: the limit is learned from it as far as it goes', (_what, saved) => {
  const { ok, refused } = goOn(saved);
  expect(ok / 600).toBeGreaterThan(18);
  expect(refused / ok).toBeLessThan(0.01);
});
