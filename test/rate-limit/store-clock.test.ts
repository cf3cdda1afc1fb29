import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStoreClock } from '../../src/rate-limit/shared-rate-limit.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** The store's clock shows so much at an own time of 0. */
const NOON = 1_700_000_000_000;

/** An answer that was so long under way; by how many ms too late the store's moment is taken to be. */
function lateAfter(clock: ReturnType<typeof createStoreClock>, ms: number, noon = NOON): number {
  const trueTime = performance.now();
  vi.advanceTimersByTime(ms);
  return clock.ownTimeOf(noon + trueTime) - trueTime;
}

test('answers that are long under way do not make the store’s clock seem slow', () => {
  const clock = createStoreClock();
  expect(lateAfter(clock, 300)).toBe(300);
  expect(lateAfter(clock, 2)).toBe(2);
  for (let n = 0; n < 100; n += 1) expect(lateAfter(clock, 400)).toBeLessThan(25);
});

test('a clock that drifts as far as NTP lets it is never taken to be ahead by it', () => {
  const clock = createStoreClock();
  for (let n = 0; n < 1_000; n += 1)
    expect(lateAfter(clock, 600, NOON - 0.0004 * performance.now())).toBeGreaterThanOrEqual(0);
});

test('a store’s clock that is set back by less than an answer may be late is followed within a minute', () => {
  const clock = createStoreClock();
  lateAfter(clock, 2);
  lateAfter(clock, 5, NOON - 900);
  vi.advanceTimersByTime(60_000);
  expect(lateAfter(clock, 5, NOON - 900)).toBe(5);
});

test('a store’s clock that is set back by a minute is followed at once', () => {
  const clock = createStoreClock();
  lateAfter(clock, 2);
  expect(lateAfter(clock, 5, NOON - 60_000)).toBe(5);
});
