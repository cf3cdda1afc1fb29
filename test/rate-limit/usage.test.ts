import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createUsage } from '../../src/rate-limit/lease-permits.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Ten permits used within 50 ms of the exchange, and the next exchange 500 ms after it. */
function tenUsed(hadMore: boolean) {
  const at = performance.now();
  const usage = createUsage();
  for (let n = 1; n <= 10; n += 1) {
    vi.advanceTimersByTime(5);
    usage.note(n === 10 && !hadMore);
  }
  vi.advanceTimersByTime(450);
  return { usage, since: { at, leaseMs: 600 } };
}

test('as many are expected again as were used', () => {
  const { usage, since } = tenUsed(true);
  expect(usage.expected({ ...since, isStarved: false })).toBe(12);
  usage.forget();
  expect(usage.any()).toBe(false);
  expect(usage.expected({ ...since, isStarved: true })).toBe(0);
});

test('who had no more and waits is expected to have used more of them, as fast as those there were', () => {
  const { usage, since } = tenUsed(false);
  expect(usage.expected({ ...since, isStarved: false })).toBe(12);
  expect(usage.expected({ ...since, isStarved: true })).toBe(240);
});
