import { describe, expect, test } from 'vitest';
import { leasePermits, type SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { createSharedRateLimit, type SharedRateLimit } from '../../src/rate-limit/shared-rate-limit.ts';
import type { Store } from '../../src/store/open-store.ts';
import { changeRateLimit, createRateLimitList, listRateLimits, readRateLimit } from '../../src/store/rate-limits.ts';
import { scaled } from '../harness/pace.ts';
import { freshStore, kinds } from './stores.ts';

const KEY = { tenantId: 'acme', upstream: 'partner' };
const at20: SharedRateLimitState = { rate: 20, limit: 20, noise: 0, limitSeen: true, version: 2 };

const waits = { live: [], bulk: [] };

/** As src/app.ts opens it. */
function openRateLimit(store: Store): SharedRateLimit {
  return createSharedRateLimit((change) =>
    changeRateLimit(store, KEY, (saved, now) => change((saved ?? {}) as Partial<SharedRateLimitState>, now)),
  );
}

test('what another version of the product learned is learned again, and keeps nobody waiting', () => {
  const asked = {
    live: 1,
    bulk: 0,
    own: [],
    unused: 0,
    answers: [],
    localNow: 0,
    sharer: 'one',
    inFlight: 0,
    needs: 0,
    waits,
  };
  const later = { perMinute: 1, sharers: 7, version: 2 } as unknown as SharedRateLimitState;
  const { result, rateLimit } = leasePermits({ ...asked, random: () => 0.5 }, later, 1_000);
  expect(result.permits).toHaveLength(1);
  expect(rateLimit?.version).toBe(2);
});

describe.each(kinds)('a rate limit in %s', (kind) => {
  test('is listed again and again as it is, also after it changed or went', async () => {
    const { store } = await freshStore(kind);
    const put = (tenantId: string, upstream: string, n: number) =>
      changeRateLimit(store, { tenantId, upstream }, () => ({ rateLimit: { n }, result: undefined }));
    const list = createRateLimitList(store);
    const seen = async () =>
      (await list()).map(({ tenantId, upstream, rateLimit }) => ({ tenantId, upstream, rateLimit }));
    const fresh = async () => (await listRateLimits(store)).map((one) => ({ ...one, now: undefined }));
    expect(await seen()).toEqual([]);
    await put('acme', 'partner', 1);
    await put('acme', 'partner/jobs.list', 2);
    await put('globex', 'partner', 3);
    expect(await seen()).toEqual(await fresh());
    await put('acme', 'partner', 4);
    expect(await seen()).toEqual(await fresh());
    expect(await seen()).toContainEqual({ tenantId: 'acme', upstream: 'partner', rateLimit: { n: 4 } });
    await store.kysely.deleteFrom('rate_limits').where('tenant_id', '=', 'globex').execute();
    expect(await seen()).toEqual(await fresh());
    await put('globex', 'partner', 5);
    expect(await seen()).toContainEqual({ tenantId: 'globex', upstream: 'partner', rateLimit: { n: 5 } });
    expect((await list()).every(({ now }) => now > 0)).toBe(true);
  });

  test('is changed by one at a time, however many change it at once', async () => {
    const { store, other } = await freshStore(kind);
    const add = (by: Store) =>
      changeRateLimit(by, KEY, (rateLimit) => ({
        rateLimit: { n: ((rateLimit as { n?: number })?.n ?? 0) + 1 },
        result: undefined,
      }));
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(n % 2 === 0 ? store : other)));
    expect(await readRateLimit(store, KEY)).toEqual({ n: 20 });
  });

  test('of many tenants is changed in one statement, however many come at once, and by whomever', async () => {
    const { store, other } = await freshStore(kind);
    const tenants = Array.from({ length: 150 }, (_, n) => `tenant-${n}`);
    const addOne = (by: Store, tenantId: string) =>
      changeRateLimit(by, { tenantId, upstream: 'partner' }, (saved) => ({
        rateLimit: { n: ((saved as { n?: number })?.n ?? 0) + 1 },
        result: tenantId,
      }));
    for (const by of [[store], [store, other, store]]) {
      const results = await Promise.all(by.flatMap((one) => tenants.map((tenantId) => addOne(one, tenantId))));
      expect(results.slice(0, 150)).toEqual(tenants);
    }
    const rows = await listRateLimits(store);
    expect(rows.map(({ rateLimit }) => rateLimit)).toEqual(tenants.map(() => ({ n: 4 })));
  });

  test('that cannot be changed keeps no other one from it', async () => {
    const { store } = await freshStore(kind);
    const broken = changeRateLimit(store, KEY, () => {
      throw new Error('no such thing');
    });
    const other = changeRateLimit(store, { ...KEY, tenantId: 'other' }, () => ({ rateLimit: { n: 1 }, result: 7 }));
    await expect(broken).rejects.toThrow('no such thing');
    expect(await other).toBe(7);
  });

  test('is not written where nothing changed, and belongs to one tenant and upstream', async () => {
    const { store } = await freshStore(kind);
    expect(await changeRateLimit(store, KEY, () => ({ result: 7 }))).toBe(7);
    expect(await store.kysely.selectFrom('rate_limits').selectAll().execute()).toEqual([]);
    await changeRateLimit(store, KEY, () => ({ rateLimit: { n: 1 }, result: 0 }));
    expect(await readRateLimit(store, { ...KEY, tenantId: 'other' })).toBeUndefined();
    expect(await readRateLimit(store, { ...KEY, upstream: 'hris' })).toBeUndefined();
  });

  test("goes by the database's clock", async () => {
    const { store, other } = await freshStore(kind);
    const clocks = await Promise.all(
      [store, other].map((one) => changeRateLimit(one, KEY, (_, now) => ({ result: now }))),
    );
    expect(Math.abs((clocks[0] ?? 0) - (clocks[1] ?? 0))).toBeLessThan(1_000);
    expect(Math.abs((clocks[0] ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test('lets two sharers together go no faster than one', async () => {
    const { store, other } = await freshStore(kind);
    await changeRateLimit(store, KEY, () => ({ rateLimit: at20, result: 0 }));
    const rateLimits = [openRateLimit(store), openRateLimit(other)];
    const stop = new AbortController();
    const gone: number[] = [0, 0];
    const began = performance.now();
    const loops = rateLimits.map(async (rateLimit, n) => {
      for (;;) {
        if (
          !(await rateLimit.acquire('bulk', stop.signal).then(
            () => true,
            () => false,
          ))
        )
          return;
        gone[n] = (gone[n] ?? 0) + 1;
        rateLimit.answered({ sentAt: Date.now(), status: 200 });
      }
    });
    await expect.poll(() => gone[0]! + gone[1]!, { interval: 20 }).toBeGreaterThanOrEqual(40);
    const seconds = (performance.now() - began) / 1000;
    stop.abort();
    await Promise.all(loops);
    await Promise.all(rateLimits.map((rateLimit) => rateLimit.close()));
    // 20 ms of permits may leave together after a rest, and 600 ms of them are leased ahead.
    expect((gone[0]! + gone[1]!) / (seconds + 0.65)).toBeLessThanOrEqual(20);
    expect(Math.min(...gone)).toBeGreaterThan(0);
  });

  test('lets nobody wait for a permit that will never come once it is closed', async () => {
    const { store } = await freshStore(kind);
    await changeRateLimit(store, KEY, () => ({ rateLimit: at20, result: 0 }));
    const rateLimit = openRateLimit(store);
    await rateLimit.acquire('live');
    rateLimit.answered({ sentAt: Date.now(), status: 429, retryAfterMs: 60_000 });
    // What was leased before is void from then on.
    await expect.poll(() => rateLimit.waitMs('live')).toBeGreaterThan(10_000);
    const waiting = [rateLimit.acquire('live'), rateLimit.acquire('bulk')];
    const ends = Promise.allSettled(waiting);
    await rateLimit.close();
    const closed = { status: 'rejected', reason: { code: 'CONNECTION_CLOSED', action: 'retry' } };
    expect(await ends).toMatchObject([closed, closed]);
    await expect(rateLimit.acquire('live')).rejects.toMatchObject(closed.reason);
  });

  test('stops everybody within a share when one of them meets a 429', async () => {
    const { store, other } = await freshStore(kind);
    await changeRateLimit(store, KEY, () => ({ rateLimit: { ...at20, rate: 100, limit: 100 }, result: 0 }));
    const [one, two] = [openRateLimit(store), openRateLimit(other)];
    await one.acquire('bulk');
    one.answered({ sentAt: Date.now(), status: 429, retryAfterMs: scaled(1_500) });
    const pausedUntil = async (): Promise<number> =>
      ((await readRateLimit(store, KEY)) as SharedRateLimitState).underWay?.permits.pausedUntil ?? 0;
    await expect.poll(pausedUntil, { interval: 10 }).toBeGreaterThan(0);
    const until = await pausedUntil();
    await two.acquire('live');
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    await Promise.all([one.close(), two.close()]);
  });
});

describe('a lease', () => {
  const ask = {
    live: 0,
    bulk: 0,
    own: [],
    unused: 0,
    answers: [],
    localNow: 1_000,
    sharer: 'a',
    inFlight: 0,
    needs: 0,
    waits,
  };
  const fresh = { ...ask, random: () => 0.5 };

  test('holds the permits of 600 ms, each at its time, on the clock of the process that asked', () => {
    const { result } = leasePermits({ ...fresh, bulk: 50 }, at20, 9_000_000);
    expect(result.permits.every((permit) => permit >= 1_000 && permit <= 1_600)).toBe(true);
    expect(result.permits.length).toBeGreaterThanOrEqual(12);
    expect(result.permits.length).toBeLessThanOrEqual(14);
  });

  test('is one request where the rate limit is slower than that', () => {
    const sharers = { b: { at: 9_000_000, inFlight: 0 } };
    const { result } = leasePermits({ ...fresh, bulk: 50 }, { ...at20, rate: 1, sharers }, 9_000_000);
    expect(result.permits).toHaveLength(1);
    expect(result.askInMs).toBeGreaterThan(300);
  });

  test('is longer for a process that is alone at a slow rate', () => {
    const { result } = leasePermits({ ...fresh, bulk: 50 }, { ...at20, rate: 1 }, 9_000_000);
    expect(result.permits).toHaveLength(3);
    expect(result.leaseMs).toBe(2_000);
  });

  test('gives live requests the next places although others have leased all of the next 600 ms', () => {
    const { rateLimit } = leasePermits({ ...fresh, sharer: 'b', bulk: 50 }, at20, 9_000_000);
    const first = leasePermits({ ...fresh, live: 1 }, rateLimit ?? {}, 9_000_001);
    expect(first.result.places[0]).toBeGreaterThanOrEqual(1_000);
    expect(first.result.places[0]).toBeLessThan(1_050);
    expect(first.result.places).toHaveLength(first.result.permits.length);
    const everyMs = 1_000 / (first.rateLimit?.rate ?? 0);
    expect(first.result.movedMs).toBeCloseTo(first.result.places.length * everyMs, 1);
  });

  test('never reaches further ahead than 600 ms, whoever leased before', () => {
    let rateLimit: Partial<SharedRateLimitState> = at20;
    for (const sharer of ['a', 'b', 'c', 'd'])
      rateLimit = leasePermits({ ...fresh, sharer, bulk: 50 }, rateLimit, 9_000_000).rateLimit ?? rateLimit;
    expect((rateLimit.underWay?.permits.tat ?? 0) - 9_000_000).toBeLessThanOrEqual(700);
  });

  test('gives its permits back when nobody waits any more', () => {
    const leased = leasePermits({ ...fresh, bulk: 5 }, at20, 9_000_000);
    const back = leasePermits({ ...fresh, unused: leased.result.permits.length }, leased.rateLimit ?? {}, 9_000_000);
    expect(leasePermits({ ...fresh, bulk: 5 }, back.rateLimit ?? {}, 9_000_000).result.permits).toHaveLength(5);
  });

  test('does not stand through a pause, and one of the time after it does', () => {
    const answers = [{ sentAt: 1_000, status: 429, retryAfterMs: 900 }];
    const { rateLimit, result } = leasePermits({ ...fresh, bulk: 3, own: [1_100, 1_200], answers }, at20, 9_000_000);
    expect(result.validFrom).toBeGreaterThan(1_200);
    expect(result.permits).toEqual([]);
    const first = leasePermits({ ...fresh, localNow: 1_400, bulk: 3 }, rateLimit ?? {}, 9_000_400);
    expect(first.result.permits.length).toBeGreaterThanOrEqual(1);
    const again = leasePermits(
      { ...fresh, localNow: 1_450, bulk: 3, own: first.result.permits },
      first.rateLimit ?? {},
      9_000_450,
    );
    expect(first.result.permits[0]).toBeGreaterThanOrEqual(again.result.validFrom);
  });
});

test('a store that is away is told of once, and calls leave when it is back', async () => {
  const outages: unknown[] = [];
  const saved: { rateLimit?: SharedRateLimitState } = {};
  let tries = 0;
  const rateLimit = createSharedRateLimit(
    async (change) => {
      tries += 1;
      if (tries <= 2) throw new Error('away');
      const { rateLimit: next, result } = change(saved.rateLimit ?? {}, Date.now());
      Object.assign(saved, next === undefined ? {} : { rateLimit: next });
      return result;
    },
    { onOutage: (error) => outages.push(error) },
  );
  await rateLimit.acquire('live');
  await rateLimit.close();
  expect({ outages: outages.length, tries: tries > 2 }).toEqual({ outages: 1, tries: true });
});
