import { expect, test } from 'vitest';
import { noteTraffic, viewTraffic } from '../../src/rate-limit/lease-permits.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { viewRateLimit } from '../../src/rate-limit/view-rate-limit.ts';

const acme = { tenantId: 'acme', upstream: 'partner', now: 600_000 };
const learned = { rate: 9.8, limit: 10, noise: 0, limitSeen: true };

test('a learned rate limit is shown with the kind of limit believed in', () => {
  const known = { tenantId: 'acme', upstream: 'partner', state: 'learned', rate: 9.8, limit: 10, kind: 'unknown' };
  const view = { ...known, noise: 0, answers: 0, perSecond: 0, share429: 0, use: 0, waits: {} };
  expect(viewRateLimit({ ...acme, saved: { ...learned, version: 2 } })).toEqual(view);
});

test('a limit that was just met is shown as a pause', () => {
  const limiter = createRateLimiter({ now: () => 0, random: () => 0.5 }, learned);
  limiter.answered({ sentAt: 0, status: 429, retryAfterMs: 5_000 });
  expect(viewRateLimit({ ...acme, saved: { ...limiter.save(), version: 2 } })).toMatchObject({
    state: 'paused',
    answers: 1,
  });
});

test('a pause is shown with how long it lasts, as the upstream asked for', () => {
  const limiter = createRateLimiter({ now: () => 600_000, random: () => 0.5 }, learned);
  limiter.answered({ sentAt: 600_000, status: 429, retryAfterMs: 3_600_000 });
  const saved = { ...limiter.save(), version: 2 as const };
  expect(viewRateLimit({ ...acme, now: 1_200_000, saved }).pausedMs).toBe(3_000_000);
  expect(viewRateLimit({ ...acme, now: 9_000_000, saved })).not.toHaveProperty('pausedMs');
});

test('before any limit was met none is shown', () => {
  const view = viewRateLimit({ ...acme, saved: { ...learned, limitSeen: false, version: 2 } });
  expect(view).toMatchObject({ state: 'not met yet' });
  expect(view).not.toHaveProperty('limit');
});

test('of the last minutes are shown: calls, 429s among them, and how long each priority waited', () => {
  const ok = { sentAt: 0, status: 200 };
  const waits = { live: [1, 20], bulk: Array.from({ length: 100 }, (_, n) => 10 * n) };
  const answers = [...Array.from({ length: 99 }, () => ok), { sentAt: 0, status: 429 }];
  const traffic = noteTraffic(undefined, { answers, waits }, 0);
  const shown = viewRateLimit({ ...acme, now: 100_000, saved: { ...learned, version: 2, traffic } });
  expect(shown).toMatchObject({ perSecond: 1, share429: 0.01, use: 1 / 9.8 });
  expect(shown.waits.live).toEqual({ p50Ms: 1, p99Ms: 23, count: 2 });
  // A bucket ends at most 1.42 times higher than the wait.
  expect(shown.waits.bulk?.p50Ms).toBeGreaterThanOrEqual(490);
  expect(shown.waits.bulk?.p50Ms).toBeLessThanOrEqual(700);
});

test('what is older than ten minutes is not shown', () => {
  const first = noteTraffic(undefined, { answers: [{ sentAt: 0, status: 429 }], waits: { live: [], bulk: [5] } }, 0);
  const nothing = { answers: [], waits: { live: [], bulk: [] } };
  expect(viewTraffic(noteTraffic(first, nothing, 310_000), 320_000).share429).toBe(1);
  expect(viewTraffic(noteTraffic(first, nothing, 700_000), 710_000)).toEqual({ perSecond: 0, share429: 0, waits: {} });
});
