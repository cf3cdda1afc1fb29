import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fixedWindow, type Limit, tokenBucket } from './limited-server.ts';
import { percentile } from './statistics.ts';
import { runFleet } from './virtual-fleet.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Pages that a whole pass asks for ahead, and the calls of a hire that skips onboarding. */
const [PAGES_AHEAD, CALLS_OF_HIRE] = [8, 8];
const MOST_PERMITS = 2;

const limits: [what: string, limit: () => Limit, perSecond: number][] = [
  ['a bucket of 20 a second', () => tokenBucket(20, 20), 20],
  ['a window of 10 seconds, 20 a second', () => fixedWindow(20), 20],
  ['a bucket of 2 a second', () => tokenBucket(2, 2), 2],
];

/** By hire, how many calls of the pass left while one of its own waited. The pass is in the first process. */
async function overtakenBeside(processes: number, limit: Limit, perSecond: number): Promise<number[]> {
  const { overtaken } = await runFleet({
    processes,
    limit,
    seconds: 60 + 6_000 / perSecond,
    from: 60,
    // Hires use a fifth of the limit: with more of them they wait for each other.
    liveEveryMs: (processes * CALLS_OF_HIRE * 5_000) / perSecond,
    callsOfHire: CALLS_OF_HIRE,
    backlog: Array.from({ length: processes }, (_, n) => (n === 0 ? PAGES_AHEAD : 0)),
  });
  const whole = overtaken.filter(({ length }) => length === CALLS_OF_HIRE);
  expect(whole.length).toBeGreaterThan(100);
  return whole.map((calls) => calls.reduce((sum, n) => sum + n, 0));
}

describe.each(limits)('a whole pass delays a hire by two permits at most: %s', (_what, limit, rate) => {
  test.each([
    ['in one process', 1],
    ['in one process of three, where hires are made in each', 3],
  ])('%s', async (_where, processes) => {
    const hires = await overtakenBeside(processes, limit(), rate);
    expect(percentile(hires, 0.95)).toBeLessThanOrEqual(MOST_PERMITS);
  });
});
