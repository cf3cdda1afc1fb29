import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLiveRuns } from '../../src/rate-limit/shares.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** So many runs of live requests, 100 ms from one to the next and a minute between runs; what was expected last. */
function expectedIn(runs: number, requests: number): number[] {
  const live = createLiveRuns();
  let expected: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    vi.advanceTimersByTime(60_000);
    expected = Array.from({ length: requests }, () => {
      vi.advanceTimersByTime(100);
      live.note();
      return live.expected();
    });
  }
  return expected;
}

test('a run of ten is expected until it is known how long they are', () => {
  expect(expectedIn(1, 3)).toEqual([10, 9, 8]);
});

test('as many are expected as usually come in a row, less those that came', () => {
  expect(expectedIn(20, 4)).toEqual([5, 4, 3, 2]);
  expect(expectedIn(20, 1)).toEqual([2]);
});

test('a run that is longer than usual may be of any length', () => {
  const live = createLiveRuns();
  for (let run = 0; run < 20; run += 1) {
    vi.advanceTimersByTime(60_000);
    live.note();
  }
  for (let request = 0; request < 3; request += 1) live.note();
  expect(live.expected()).toBe(10);
});
