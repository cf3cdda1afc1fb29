import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Asked, askAgainMs, leasePermits, type SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createHeldPermits, type HeldPermits } from '../../src/rate-limit/shared-rate-limit.ts';
import { measureCompany } from '../../src/rate-limit/shares.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const NOW = 1_700_000_000_000;
const RATE = 20;

type State = Partial<SharedRateLimitState>;

const fresh: State = { rate: RATE, limit: RATE, noise: 0, limitSeen: true, version: 2 };
const nothing: Omit<Asked, 'sharer'> = {
  live: 0,
  bulk: 0,
  own: [],
  unused: 0,
  answers: [],
  localNow: NOW,
  inFlight: 0,
  needs: 0,
  waits: { live: [], bulk: [] },
};

/** An exchange at a moment of the shared clock, which is the process's own; as often as wanted, state in and out. */
function exchange(
  state: State,
  asked: Partial<Asked> & { sharer: string },
  now = NOW,
): ReturnType<typeof leasePermits> & { state: State } {
  const leased = leasePermits({ ...nothing, localNow: now, ...asked, random: () => 0.5 }, state, now);
  return { ...leased, state: leased.rateLimit ?? state };
}

describe('a lead', () => {
  test('is saved where it is all that an exchange grants', () => {
    const bulk = exchange(fresh, { sharer: 'pass', bulk: 12 });
    const own = exchange(bulk.state, { sharer: 'hire', live: 1, bulk: 1 });
    const waits = exchange(own.state, { sharer: 'hire', live: 2, own: [NOW + 2_000, NOW + 2_050] });
    expect(waits.result.permits).toEqual([]);
    expect(waits.result.places).toHaveLength(2);
    expect(waits.state.leads?.movedMs).toBe(waits.result.movedMs);
    expect(waits.result.movedMs).toBeGreaterThan(own.result.movedMs);
  });

  test('takes nobody else a place, and leaves none out: all permits together stay at the rate', () => {
    const pass = exchange(fresh, { sharer: 'pass', bulk: 12 });
    const hire = exchange(pass.state, { sharer: 'hire', live: 1, bulk: 15 });
    const [moved, leading] = [heldOf(pass.result.permits), heldOf(hire.result.permits)];
    moved.moveBack(hire.result.movedMs);
    leading.lead(hire.result.places);
    const all = [...moved.all(), ...leading.all()].toSorted((a, b) => a - b);
    expect(hire.result.places.length).toBeGreaterThan(0);
    expect(all).toHaveLength(pass.result.permits.length + hire.result.permits.length);
    const gaps = all.slice(1).map((at, n) => at - all[n]!);
    expect(Math.max(...gaps)).toBeLessThan(60);
    expect(Math.min(...gaps)).toBeGreaterThan(20);
  });
});

test('who has all that it asked for asks again at once, or in a while where live calls are late all the same', () => {
  const { result } = exchange(fresh, { sharer: 'hire', live: 1 });
  expect(result.askInMs).toBeUndefined();
  expect({ late: askAgainMs(result, true, 0.5), inTime: askAgainMs(result, false, 0.5) }).toEqual({
    late: 40,
    inTime: 0,
  });
});

describe('under a ceiling of a quarter', () => {
  const ceiling = { companyRate: RATE, measuringSince: null, measuredAt: NOW, meetings: 3, inMeeting: false, tat: 0 };
  const share = 0.25;

  test('a lead goes at a quarter of the rate', () => {
    const pass = exchange({ ...fresh, ceiling }, { sharer: 'pass', bulk: 12, share });
    const { places } = exchange(pass.state, { sharer: 'hire', live: 2, bulk: 4, share }).result;
    expect(places).toHaveLength(6);
    expect(Math.round(places[1]! - places[0]!)).toBe(211);
  });

  test("the company's rate is measured again within the hour after a clock was set back by a day", () => {
    const limiter = createRateLimiter({ now: () => NOW, random: () => 0.5 });
    const { saved } = measureCompany({ ...ceiling, measuredAt: NOW + 86_400_000 }, limiter, share, NOW);
    expect(saved.measuringSince).toBeNull();
    expect(measureCompany(saved, limiter, share, NOW + 3_600_001).saved.measuringSince).toBe(NOW + 3_600_001);
  });

  test('a clock that is set back by a minute stops nobody', () => {
    const before = exchange({ ...fresh, ceiling }, { sharer: 'pass', bulk: 1, share });
    const { permits } = exchange(before.state, { sharer: 'pass', live: 1, share }, NOW - 60_000).result;
    expect(permits).toHaveLength(1);
  });
});

describe('a clock that is set back by a minute', () => {
  const back = NOW - 60_000;

  test('leaves no sharer of before', () => {
    const before = exchange(fresh, { sharer: 'gone', bulk: 1 });
    expect(exchange(before.state, { sharer: 'pass', bulk: 1 }, back).result.sharers).toBe(1);
  });

  test('delays no lead', () => {
    const leads = { movedMs: 0, until: NOW };
    const pass = exchange({ ...fresh, leads }, { sharer: 'pass', bulk: 1 }, back);
    const own = [back + 1_500];
    const hire = exchange(pass.state, { sharer: 'hire', live: 1, own }, back);
    expect(hire.result.places).toHaveLength(1);
  });
});

describe('held permits', () => {
  test('exchange the last of them for a lead', () => {
    const held = heldOf([100, 150, 200, 250]);
    held.lead([10, 60]);
    expect(held.all()).toEqual([10, 60, 100, 150]);
  });

  test('that are overdue keep their distances when they move back', () => {
    vi.advanceTimersByTime(200);
    const now = performance.now();
    const held = heldOf([-20, -10, 15, 30].map((ms) => now + ms));
    held.moveBack(100);
    expect(held.all().map((at) => Math.round(at - now))).toEqual([100, 110, 115, 130]);
  });
});

function heldOf(permits: readonly number[]): HeldPermits {
  const held = createHeldPermits();
  held.add(permits);
  return held;
}
