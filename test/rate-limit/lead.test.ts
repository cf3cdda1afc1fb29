import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHeldPermits, type HeldPermits } from '../../src/rate-limit/held-permits.ts';
import { type Asked, leasePermits, type SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';

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
