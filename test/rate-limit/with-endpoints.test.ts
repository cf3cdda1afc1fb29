import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type LimitedEndpoints, withEndpoints } from '../../src/rate-limit/kept-rate-limits.ts';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import {
  type ChangeRateLimit,
  createSharedRateLimit,
  type SharedRateLimit,
} from '../../src/rate-limit/shared-rate-limit.ts';
import { seeded, tokenBucket } from './limited-server.ts';

const SLOW = 'reports.create';
const OTHER = 'candidates.list';
const seconds = { all: 300, from: 100 };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes before a company of 20 a second, of which one endpoint takes 2, in virtual time. */
function openFleet(processes: number) {
  const random = seeded(3);
  const states = new Map<string, SharedRateLimitState>();
  const writes = new Map<string, number>();
  const [company, slow] = [tokenBucket(20, 20), tokenBucket(2, 2)];
  const seen = { ok: { [SLOW]: 0, [OTHER]: 0 }, limited: 0, liveWaits: [] as number[] };
  const began = performance.now();
  const isCounted = (): boolean => performance.now() - began > seconds.from * 1_000;

  function open(name: string): SharedRateLimit {
    const changeAlone: ChangeRateLimit = async (change) => {
      await pause(2 * random());
      const { rateLimit, result } = change(states.get(name) ?? {}, Date.now());
      if (rateLimit !== undefined && isCounted()) writes.set(name, (writes.get(name) ?? 0) + 1);
      if (rateLimit !== undefined) states.set(name, JSON.parse(JSON.stringify(rateLimit)));
      return result;
    };
    return createSharedRateLimit(changeAlone, { random });
  }

  async function call(keeper: LimitedEndpoints, priority: Priority, endpoint: typeof SLOW | typeof OTHER) {
    const askedAt = performance.now();
    await keeper.acquire(priority, undefined, endpoint);
    const sentAt = Date.now();
    if (priority === 'live' && isCounted()) seen.liveWaits.push(performance.now() - askedAt);
    await pause(20 + 40 * random());
    const own = endpoint === SLOW ? slow(Date.now()) : { ok: true, retryAfterMs: 0 };
    const { ok, retryAfterMs } = own.ok ? company(Date.now()) : own;
    await pause(20 + 40 * random());
    keeper.answered({ sentAt, endpoint, status: ok ? 200 : 429, retryAfterMs: ok ? undefined : retryAfterMs });
    if (isCounted() && ok) seen.ok[endpoint] += 1;
    else if (isCounted()) seen.limited += 1;
  }

  const keepers = Array.from({ length: processes }, () => withEndpoints(open));
  const isOver = (): boolean => performance.now() - began > seconds.all * 1_000;
  async function callAgain(keeper: LimitedEndpoints, endpoint: typeof SLOW | typeof OTHER): Promise<void> {
    while (!isOver()) await call(keeper, 'bulk', endpoint);
  }
  async function hire(keeper: LimitedEndpoints): Promise<void> {
    for (; !isOver(); await pause(2_000 * random())) await call(keeper, 'live', OTHER);
  }
  const loops = keepers.flatMap((keeper) => [
    ...Array.from({ length: 12 }, () => callAgain(keeper, OTHER)),
    ...Array.from({ length: 4 }, () => callAgain(keeper, SLOW)),
    hire(keeper),
  ]);
  return { seen, writes, keepers, ended: Promise.all(loops) };
}

test.each([1, 3])('an endpoint with a limit of its own holds up nothing else, with %i processes', async (processes) => {
  const { seen, writes, keepers, ended } = openFleet(processes);
  await vi.advanceTimersByTimeAsync((seconds.all + 10) * 1_000);
  await ended;
  const closed = Promise.all(keepers.map((keeper) => keeper.close()));
  await vi.advanceTimersByTimeAsync(1_000);
  await closed;
  const counted = seconds.all - seconds.from;
  const perSecond = { slow: seen.ok[SLOW] / counted, other: seen.ok[OTHER] / counted };
  expect(perSecond.slow).toBeGreaterThan(1.6);
  expect(perSecond.other).toBeGreaterThan(17);
  expect(seen.limited / (seen.ok[SLOW] + seen.ok[OTHER])).toBeLessThan(0.01);
  seen.liveWaits.sort((a, b) => a - b);
  expect(seen.liveWaits[Math.floor(seen.liveWaits.length * 0.99)]).toBeLessThan(1_100);
  for (const count of writes.values()) expect(count / counted / processes).toBeLessThanOrEqual(2);
});
