import { describe, expect, test } from 'vitest';
import { changeQuarantine, type Quarantined, readQuarantine } from '../../src/store/quarantine.ts';
import { keepPages, readSeenIds } from '../../src/store/stream-missing.ts';
import { beginRun, commitPage, readStream, refuseRun } from '../../src/store/streams.ts';
import { freshStore, kinds } from './stores.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' };
const counts = { unchanged: 90, created: 7, updated: 2, quarantined: 1 };
const run = (runId: string, full = false) => ({ runId, full, firstPage: 0 });

describe.each(kinds)('a stream in %s', (kind) => {
  test('goes on where its run stopped, and counts', async () => {
    const { store, other } = await freshStore(kind);
    expect(await beginRun(store, KEY, run('r1'))).toMatchObject({ page: 0, seen: 0, total: null, state: 'running' });
    const page = { next: 1, records: 100, total: 250, counts, state: 'running' } as const;
    expect(await commitPage(store, KEY, 'r1', page)).toBe(true);
    expect(await beginRun(other, KEY, run('r1'))).toMatchObject({ page: 1, seen: 100, total: 250, ...counts });
  });

  test('has seen whoever stands on one of its pages, however many those are', async () => {
    const { store } = await freshStore(kind);
    const pages = Array.from({ length: 401 }, (_, n) => [n, { ids: [`${n}`, `${n + 1}`], known: null }] as const);
    const large = { ids: ['9007199254740993', '007', 'c0ffee', 'NaN'], known: null };
    await keepPages(store, KEY, new Map(pages));
    await keepPages(store, KEY, new Map([[401, large]]));
    await keepPages(store, { ...KEY, stream: 'jobs' }, new Map([[0, { ids: ['elsewhere'], known: null }]]));
    const seen = await readSeenIds(store, KEY, 1_000);
    expect(seen).toMatchObject({ size: 402 + large.ids.length, repeated: 400 });
    // On the last page of one part and the first of the next one: it moved, and hid nobody.
    expect(await readSeenIds(store, KEY, 200)).toMatchObject({ size: seen.size, repeated: 398 });
    expect(['0', '401', ...large.ids].every((id) => seen.has(id))).toBe(true);
    const unseen = ['402', '07', '1.0', '9007199254740992', '1e1', 'elsewhere', ''];
    expect(unseen.filter((id) => seen.has(id))).toEqual([]);
  });

  test('is moved on by one of two attempts at the same page', async () => {
    const { store, other } = await freshStore(kind);
    await beginRun(store, KEY, run('r1'));
    const page = { next: 1, records: 100, seenSoFar: 0, total: 250, counts, state: 'running' } as const;
    expect([await commitPage(store, KEY, 'r1', page), await commitPage(other, KEY, 'r1', page)]).toEqual([true, false]);
    expect(await readStream(store, KEY)).toMatchObject({ page: 1, seen: 100, created: counts.created });
  });

  test('has one run at a time, and the next one after its end', async () => {
    const { store, other } = await freshStore(kind);
    await beginRun(store, KEY, run('r1'));
    expect(await beginRun(other, KEY, run('r2'))).toBeUndefined();
    expect(await beginRun(other, { ...KEY, stream: 'jobs' }, run('r2'))).toBeDefined();
    await commitPage(store, KEY, 'r1', { next: 1, records: 100, total: 100, counts, state: 'partial' });
    expect(await readStream(store, KEY)).toMatchObject({ state: 'partial', ended_at: expect.any(Number) as number });
    expect(await beginRun(other, KEY, run('r2'))).toMatchObject({ page: 0, seen: 0, created: 0, ended_at: null });
  });

  test('a run that died is taken up by the next, unless that begins anew; the dead one writes no more', async () => {
    const { store } = await freshStore(kind);
    for (const [runId, full, page] of [
      ['r2', false, 1],
      ['r3', true, 0],
    ] as const) {
      await store.kysely.deleteFrom('streams').execute();
      await beginRun(store, KEY, run('r1'));
      await commitPage(store, KEY, 'r1', { next: 1, records: 100, total: 900, counts, state: 'running' });
      await store.kysely.updateTable('streams').set({ updated_at: 1 }).execute();
      expect(await beginRun(store, KEY, run(runId, full))).toMatchObject({ run_id: runId, page });
      const late = { next: 2, records: 100, total: 900, counts, state: 'running' } as const;
      expect(await commitPage(store, KEY, 'r1', late)).toBe(false);
    }
  });

  test('a refused run keeps its reason until the next begins', async () => {
    const { store } = await freshStore(kind);
    await beginRun(store, KEY, run('r1'));
    await refuseRun(store, KEY, 'r1', { code: 'NO_LANDING', message: 'nowhere' });
    expect(await readStream(store, KEY)).toMatchObject({ state: 'refused', refused_code: 'NO_LANDING' });
    expect(await beginRun(store, KEY, run('r2'))).toMatchObject({ state: 'running', refused_code: null });
  });

  test('keeps what was left out with its reason since when, and lets it go', async () => {
    const { store } = await freshStore(kind);
    await beginRun(store, KEY, run('r1'));
    const change = (page: number, over: string[], news: Quarantined[], runId = 'r1') =>
      changeQuarantine(store, KEY, runId, { page, over, news });
    const left = { key: '17', reason: 'email: expected text' };
    await change(3, [], [left, { key: 'page 3, record 4', reason: 'id: expected number' }]);
    const [first] = await readQuarantine(store, KEY);
    await change(4, [], [left]);
    const rows = await readQuarantine(store, KEY);
    expect(rows.map((row) => [row.record_key, row.page])).toEqual([
      ['page 3, record 4', 3],
      ['17', 4],
    ]);
    expect(rows[1]?.since).toBe(first?.since);
    expect(await change(5, ['17'], [{ key: '18', reason: 'late' }], 'a run that another took over')).toBe(false);
    expect(await readQuarantine(store, KEY)).toEqual(rows);
    await change(5, ['17', 'page 3, record 4', 'unknown'], []);
    expect(await readQuarantine(store, KEY)).toEqual([]);
  });
});
