import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Limit, seeded, tokenBucket } from './limited-server.ts';
import { jain, percentile } from './statistics.ts';
import { type FleetRun, type FleetSeen, runFleet } from './virtual-fleet.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** The same run by several seeds: what is learned of the limit differs by some percent. */
async function runSeeds(run: Omit<FleetRun, 'limit' | 'seed'>): Promise<{ runs: FleetSeen[]; perSecond: number }> {
  const runs: FleetSeen[] = [];
  for (let seed = 1; seed <= 4; seed += 1) runs.push(await runFleet({ ...run, limit: tokenBucket(20, 20), seed }));
  return { runs, perSecond: meanOf(runs, (seen) => seen.perSecond) };
}

function meanOf(runs: readonly FleetSeen[], of: (seen: FleetSeen) => number): number {
  return runs.reduce((sum, seen) => sum + of(seen), 0) / runs.length;
}

describe('a tenant with a ceiling', () => {
  test('uses at most its share of what the company allows', async () => {
    const { perSecond, runs } = await runSeeds({ processes: 2, share: 0.5, seconds: 360, from: 240 });
    expect(perSecond).toBeLessThanOrEqual(10.3);
    expect(perSecond).toBeGreaterThan(9);
    expect(runs.map(({ limited }) => limited)).toEqual([0, 0, 0, 0]);
  });
});

describe('five minutes of a saturated backlog with live calls, on a limit of 20 a second', () => {
  const run = { seconds: 360, from: 60, liveEveryMs: 1_000 };

  test('one process: nearly all of the limit, and live calls wait less than three of its intervals', async () => {
    const seen = await runFleet({ ...run, processes: 1, limit: tokenBucket(20, 20) });
    expect(seen.perSecond).toBeGreaterThan(19);
    expect(seen.share429).toBeLessThan(0.003);
    expect(percentile(seen.liveWaits, 0.99)).toBeLessThanOrEqual(150);
    expect(seen.writes[0]! / 300).toBeLessThanOrEqual(2);
  });

  test('three processes behave as one, share alike, and write to the store twice a second each', async () => {
    const share429 = (seen: FleetSeen): number => seen.share429;
    const alone = await runSeeds({ ...run, processes: 1 });
    const { runs, perSecond } = await runSeeds({ ...run, liveEveryMs: 3_000, processes: 3 });
    expect(perSecond).toBeGreaterThan(19);
    expect(meanOf(runs, share429)).toBeLessThanOrEqual(1.3 * meanOf(alone.runs, share429));
    expect(Math.min(...runs.map((seen) => jain(seen.ok)))).toBeGreaterThanOrEqual(0.995);
    const waits = runs.flatMap((seen) => seen.liveWaits);
    expect(percentile(waits, 0.99)).toBeLessThanOrEqual(150);
    expect(Math.max(...runs.flatMap((seen) => seen.writes)) / 300).toBeLessThanOrEqual(2);
  });

  test('a process with nothing but live calls waits no longer than those with a backlog', async () => {
    const backlog = [16, 16, 0];
    const seen = await runFleet({ ...run, liveEveryMs: 3_000, processes: 3, backlog, limit: tokenBucket(20, 20) });
    expect(percentile(seen.liveWaits, 0.99)).toBeLessThanOrEqual(150);
  });
});

test('a process whose clock is set back by a minute, and forth again, goes on as before', async () => {
  const bucket = tokenBucket(20, 20);
  const jumps = [
    { at: 120_000, byMs: -60_000 },
    { at: 180_000, byMs: 60_000 },
  ];
  const limit: Limit = (now) => {
    if (now > (jumps[0]?.at ?? Number.POSITIVE_INFINITY)) vi.setSystemTime(Date.now() + (jumps.shift()?.byMs ?? 0));
    return bucket(now);
  };
  const { perSecond, share429 } = await runFleet({ processes: 1, seconds: 240, from: 60, limit });
  expect(jumps).toEqual([]);
  expect(perSecond).toBeGreaterThan(19);
  expect(share429).toBeLessThan(0.005);
});

test('a pass goes on while another process always has live calls, by at least one permit in forty', async () => {
  const run = { processes: 2, seconds: 360, from: 60, limit: tokenBucket(20, 20) };
  const { ok } = await runFleet({ ...run, backlog: [0, 16], liveBacklog: [32, 0] });
  expect(ok[1]! / (ok[0]! + ok[1]!)).toBeGreaterThanOrEqual(1 / 40);
});

test('a process that stands still for up to half a second now and then loses little of the limit', async () => {
  const stalls = { everyMs: 3_000, leastMs: 50, mostMs: 500 };
  const slow = { storeMs: 6, roundTripMs: [20, 200], stalls } as const;
  const { runs, perSecond } = await runSeeds({ ...slow, processes: 1, seconds: 360, from: 60, liveEveryMs: 500 });
  expect(perSecond).toBeGreaterThan(19);
  expect(meanOf(runs, (seen) => seen.share429)).toBeLessThan(0.003);
  const waits = runs.flatMap(({ liveWaits }) => liveWaits);
  expect(percentile(waits, 0.99)).toBeLessThanOrEqual(200);
});

test('where a tenth of the answers are random 429s, three processes share alike and write twice a second', async () => {
  const bucket = tokenBucket(20, 20);
  const random = seeded(5);
  const limit: Limit = (now) => (random() < 0.1 ? { ok: false, retryAfterMs: 1_000 } : bucket(now));
  const seen = await runFleet({ processes: 3, seconds: 240, from: 60, liveEveryMs: 1_500, limit });
  expect(jain(seen.ok)).toBeGreaterThanOrEqual(0.99);
  expect(Math.max(...seen.writes) / 180).toBeLessThanOrEqual(1.95);
});

describe('a store of 60 ms', () => {
  const run = { seconds: 240, from: 60, storeMs: 60 };

  test('a pass beside the hires of another process goes as fast as the limit of 20 a second allows', async () => {
    const hires = { processes: 2, backlog: [16, 0], liveEveryMs: 20_000, callsOfHire: 8 };
    const { perSecond } = await runFleet({ ...run, ...hires, limit: tokenBucket(20, 20) });
    expect(perSecond).toBeGreaterThanOrEqual(19);
  });

  test('single live calls of another process take no more permits than they use', async () => {
    const reads = { processes: 2, backlog: [16, 0], liveEveryMs: 4_000 };
    const { perSecond } = await runSeeds({ ...run, ...reads, seconds: 150 });
    expect(perSecond).toBeGreaterThanOrEqual(19);
  });

  test('a process that is alone does not look for the live calls of others', async () => {
    const { perSecond, looks } = await runFleet({ ...run, processes: 1, limit: tokenBucket(20, 20) });
    expect(perSecond).toBeGreaterThanOrEqual(19);
    expect(looks).toEqual([0]);
  });
});
