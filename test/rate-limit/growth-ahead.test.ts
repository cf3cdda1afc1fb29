import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { leasePermits, type SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { beginUnderWay } from '../../src/rate-limit/saved-rate-limit.ts';
import { fixedWindow, type Limit, slidingWindow } from './limited-server.ts';
import { runFleet } from './virtual-fleet.ts';

const NOW = 1_000_000;

/** Permits that are leased at 50 a second, no limit known, where the rate doubles in 250 ms. */
function lease(others: NonNullable<SharedRateLimitState['sharers']>, learned: Partial<SharedRateLimitState> = {}) {
  const underWay = beginUnderWay(NOW);
  Object.assign(underWay.climb, { doublingMs: 250, spent: { answers: 100, refused: 0 } });
  const saved = { rate: 50, limit: 0, noise: 0, limitSeen: false, version: 2, underWay, sharers: others, ...learned };
  const waits = { live: [], bulk: [] };
  const asked = { live: 0, bulk: 1_000, own: [], unused: 0, answers: [], localNow: NOW, waits, random: () => 0.5 };
  return leasePermits({ ...asked, sharer: 'a', inFlight: 0, needs: 1_000 }, saved, NOW).result;
}

describe('permits of the next 600 ms', () => {
  test('come ever faster while no limit is known', () => {
    const { permits, isGrowing } = lease({});
    const [first, last] = [permits.filter((at) => at < NOW + 250), permits.filter((at) => at >= NOW + 250)];
    expect(isGrowing).toBe(true);
    expect(last.length / 350).toBeGreaterThan((2 * first.length) / 250);
    expect(permits.length).toBeGreaterThan(60);
  });

  test('come evenly beside another process, and where a limit is known', () => {
    const beside = lease({ b: { at: NOW, inFlight: 0, needs: 0 } });
    expect(beside.isGrowing).toBe(false);
    expect(beside.permits.length).toBeLessThan(35);
    expect(lease({}, { limit: 50, limitSeen: true }).permits.length).toBeLessThan(35);
  });
});

describe('a process that is alone, eight calls at once of 2 to 6 ms', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const run = { processes: 1, backlog: [8], from: 0, roundTripMs: [2, 6] } as const;
  const unlimited: Limit = () => ({ ok: true, retryAfterMs: 0 });

  test('makes its first thousand calls within three seconds', async () => {
    const { ok } = await runFleet({ ...run, seconds: 3, limit: unlimited });
    expect(ok[0]).toBeGreaterThan(1_000);
  });

  test.each([fixedWindow, slidingWindow])('is refused only what is under way by a %o', async (limit) => {
    for (const seed of [1, 2, 3, 4]) {
      const { limited } = await runFleet({ ...run, seconds: 9, seed, limit: limit(20) });
      expect(limited).toBeLessThanOrEqual(8);
    }
  });
});
