import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { freshConcurrency } from '../../src/rate-limit/measures.ts';
import { beginUnderWay } from '../../src/rate-limit/saved-rate-limit.ts';
import { type Sharers, shareInFlight } from '../../src/rate-limit/shares.ts';
import { atOnce, seeded } from './limited-server.ts';
import { jain } from './statistics.ts';
import { runFleet } from './virtual-fleet.ts';

/** Processes that ask again and again, by what each needs; `told` is what each may have by now. */
function settle(most: number, needs: Readonly<Record<string, number>>, now = 0): Record<string, number> {
  const sharers: Sharers = {};
  for (let round = 0; round < 4; round += 1)
    for (const [id, calls] of Object.entries(needs)) {
      sharers[id] = { ...sharers[id], at: now, inFlight: 0, needs: calls };
      sharers[id].most = shareInFlight(most, sharers, id, now).mostInFlight;
    }
  return Object.fromEntries(Object.entries(sharers).map(([id, { most: told = 0 }]) => [id, told]));
}

describe('a limit of calls under way is divided among processes', () => {
  test.each([
    ['evenly where all need more', 12, { a: 20, b: 20, c: 20 }, { a: 4, b: 4, c: 4 }],
    ['the rest of it in turns', 5, { a: 9, b: 9, c: 9 }, { a: 2, b: 2, c: 1 }],
    ['by need', 12, { a: 20, b: 2, c: 20 }, { a: 5, b: 2, c: 5 }],
    ['with one for who is idle, where there are enough', 12, { a: 40, b: 0 }, { a: 11, b: 1 }],
    ['with nothing for who is idle, where there are few', 3, { a: 40, b: 0 }, { a: 3, b: 0 }],
    ['with what nobody needs', 12, { a: 3, b: 1 }, { a: 7, b: 5 }],
    ['in turns where there are fewer than processes', 1, { a: 5, b: 5 }, { a: 1, b: 0 }],
  ])('%s', (_how, most, needs, told) => {
    expect(settle(most, needs)).toEqual(told);
  });

  test('the next turn gives the rest to another', () => {
    expect(settle(5, { a: 9, b: 9, c: 9 }, 10_000)).toEqual({ a: 2, b: 1, c: 2 });
  });

  test('and never more in all than there are, whoever asks when', () => {
    const random = seeded(7);
    for (let run = 0; run < 200; run += 1) {
      const most = 1 + Math.floor(20 * random());
      const sharers: Sharers = {};
      for (let step = 0; step < 60; step += 1) {
        const id = 'abcd'[Math.floor(4 * random())]!;
        const [had, needs] = [sharers[id]?.most ?? 0, Math.floor(30 * random())];
        // Of what it was given before, some may still be under way.
        const asking = { at: step, inFlight: Math.floor((had + 1) * random()), needs };
        const { mostInFlight = 0 } = shareInFlight(most, { ...sharers, [id]: asking }, id, step * 500);
        sharers[id] = { ...asking, most: mostInFlight };
        const inAll = Object.values(sharers).reduce((sum, one) => sum + Math.max(one.inFlight, one.most ?? 0), 0);
        expect(inAll).toBeLessThanOrEqual(most);
      }
    }
  });

  test('an earlier version, which does not say what it was given, has an even share', () => {
    const sharers = { earlier: { at: 0, inFlight: 1 }, own: { at: 0, inFlight: 0, needs: 20 } };
    expect(shareInFlight(9, sharers, 'own', 0).mostInFlight).toBe(4);
  });
});

describe('three processes before a limit of calls under way that is known', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** What one client reaches that always has so many under way; round trips take 80 ms on average. */
  const knowing = (most: number, serviceMs: number): number => (most * 1_000) / (serviceMs + 80);

  test.each([
    ['alike', 5, 250, [16, 16, 16]],
    ['alike', 40, 1_000, [22, 22, 22]],
    ['one alone, of 16', 5, 250, [16, 0, 0]],
  ])('use nearly all of it: %s, %i of %i ms', async (_who, most, serviceMs, backlog) => {
    const concurrency = { ...structuredClone(freshConcurrency), most };
    const underWay = { ...beginUnderWay(1_700_000_000_000), concurrency };
    const saved = { rate: 1_000, limit: 1_000, noise: 0, limitSeen: true, version: 2, underWay };
    const run = { processes: 3, seconds: 150, from: 60, limit: atOnce(most, serviceMs), serviceMs, backlog, saved };
    const { perSecond, share429, ok, writes } = await runFleet(run);
    expect(perSecond).toBeGreaterThan(0.9 * knowing(most, serviceMs));
    expect(share429).toBeLessThan(0.01);
    expect(jain(ok.filter((_, n) => backlog[n]! > 0))).toBeGreaterThanOrEqual(0.98);
    expect(Math.max(...writes) / 90).toBeLessThanOrEqual(2);
  });
});
