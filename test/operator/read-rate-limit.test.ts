import { expect, test } from 'vitest';
import { viewRateLimit } from '../../src/operator/read-rate-limit.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';

const learned = { rate: 9.8, limit: 10, noise: 0, limitSeen: true };

test('a learned rate limit is shown with the kind of limit believed in', () => {
  const view = { tenantId: 'acme', state: 'learned', rate: 9.8, limit: 10, kind: 'unknown', noise: 0, answers: 0 };
  expect(viewRateLimit('acme', { ...learned, version: 2 })).toEqual(view);
});

test('a limit that was just met is shown as a pause', () => {
  const limiter = createRateLimiter({ now: () => 0, random: () => 0.5 }, learned);
  limiter.answered({ sentAt: 0, status: 429, retryAfterMs: 5_000 });
  expect(viewRateLimit('acme', { ...limiter.save(), version: 2 })).toMatchObject({ state: 'paused', answers: 1 });
});

test('before any limit was met none is shown', () => {
  const view = viewRateLimit('acme', { ...learned, limitSeen: false, version: 2 });
  expect(view).toMatchObject({ state: 'not met yet' });
  expect(view).not.toHaveProperty('limit');
});
