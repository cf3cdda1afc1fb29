import { expect, test } from 'vitest';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { windowed } from '../limiter/bank.ts';
import { conclude } from '../limiter/conclude.ts';
import { drive } from '../limiter/drive.ts';

/** Until so many requests are answered by a server that has no limit, ms. */
function climb(requests: number, roundTripMs: number): number {
  const clock = { ms: 0 };
  const limiter = createRateLimiter({ now: () => clock.ms, random: () => 0.5 });
  const underWay: { sentAt: number; inFlight: number }[] = [];
  for (let answered = 0; ; clock.ms += 1) {
    while (underWay[0] !== undefined && underWay[0].sentAt + roundTripMs <= clock.ms) {
      limiter.answered({ ...underWay.shift()!, status: 200 });
      answered += 1;
    }
    if (answered >= requests) return clock.ms;
    while (underWay.length < 16 && limiter.ask('bulk') === 0)
      underWay.push({ sentAt: clock.ms, inFlight: underWay.length + 1 });
  }
}

test('a server that answers at once is climbed in seconds, a slow one with little under way', () => {
  expect(climb(200, 5)).toBeLessThan(2_500);
  expect(climb(200, 100)).toBeGreaterThan(4_500);
});

test.each(['exact', 'none'] as const)('a window used up in one climb tells its limit (Retry-After: %s)', (told) => {
  const server = windowed('counter', 300, 60);
  const runs = [1, 2, 3, 4, 5].map((seed) => conclude(server, drive(server, told, seed)));
  expect(Math.max(...runs.map(({ refused }) => refused))).toBeLessThan(0.01);
  expect(Math.min(...runs.map(({ used }) => used))).toBeGreaterThan(0.9);
});
