import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tokenBucket } from './limited-server.ts';
import { runFleet } from './virtual-fleet.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a tenant with a ceiling', () => {
  const half = { processes: 2, share: 0.5, seconds: 360, from: 240 };

  test('uses at most its share of what the company allows', async () => {
    const { perSecond, limited } = await runFleet({ ...half, limit: tokenBucket(20, 20) });
    expect(perSecond).toBeLessThanOrEqual(10.2);
    expect(perSecond).toBeGreaterThan(9);
    expect(limited).toBe(0);
  });
});
describe('a tenant with a saturated backlog', () => {
  const run = { seconds: 360, from: 60, liveEveryMs: 1_000 };

  test('costs at most two writes of the store a second, whether one process works for it or three', async () => {
    for (const processes of [1, 3]) {
      const { writes, perSecond } = await runFleet({ ...run, limit: tokenBucket(20, 20), processes });
      expect(perSecond).toBeGreaterThan(19);
      expect(Math.max(...writes) / 300).toBeLessThanOrEqual(2);
    }
  });
});
