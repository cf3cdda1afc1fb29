import { setTimeout as pause } from 'node:timers/promises';
import type { SharedRateLimitState } from '../../../src/rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../../../src/rate-limit/shared-rate-limit.ts';
import { openStore, type Store } from '../../../src/store/open-store.ts';
import { changeRateLimit } from '../../../src/store/rate-limits.ts';
import { percentile } from '../statistics.ts';
import type { Finding } from './measure.ts';

const TENANTS = 1_000;
const CALL_MS = 20;
/** A tenant calls about so often. */
const EVERY_MS = 5_000;
const MOST_ADDED_MS = 100;

/** One tenant's wait for a permit, alone and beside 999 others of the same process that call now and then. */
export async function measureManyTenants(storeUrl: string, ms: number): Promise<Finding[]> {
  const store = await openStore(storeUrl, { relaxed: true, poolSize: 2 });
  const limits = Array.from({ length: TENANTS }, (_, n) => limitOf(store, `tenant-${n}`));
  try {
    const alone = await waitsOf(limits.slice(0, 1), ms);
    const all = await waitsOf(limits, ms);
    const [one, thousand] = [percentile(alone, 0.99), percentile(all, 0.99)];
    return [
      {
        what: `wait for a permit, p99: one tenant, ${TENANTS} tenants`,
        measured: `${one.toFixed(0)} and ${thousand.toFixed(0)} ms (${all.length} calls)`,
        goal: `at most ${MOST_ADDED_MS} ms more`,
        holds: thousand - one <= MOST_ADDED_MS,
      },
    ];
  } finally {
    await Promise.all(limits.map((limit) => limit.close()));
    await store.close();
  }
}

function limitOf(store: Store, tenantId: string): SharedRateLimit {
  return createSharedRateLimit((change) =>
    changeRateLimit(store, { tenantId, upstream: 'partner' }, (saved, now) =>
      change((saved ?? {}) as Partial<SharedRateLimitState>, now),
    ),
  );
}

async function waitsOf(limits: readonly SharedRateLimit[], ms: number): Promise<number[]> {
  const waits: number[] = [];
  const until = performance.now() + ms;
  const callOn = async (limit: SharedRateLimit): Promise<void> => {
    for (await pause(Math.random() * EVERY_MS); performance.now() < until; await pause(EVERY_MS)) {
      const askedAt = performance.now();
      await limit.acquire('live');
      waits.push(performance.now() - askedAt);
      const sentAt = Date.now();
      await pause(CALL_MS);
      limit.answered({ sentAt, status: 200 });
    }
  };
  await Promise.all(limits.map(callOn));
  return waits;
}
