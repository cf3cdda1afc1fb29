import { describe, expect, test } from 'vitest';
import { hireStates } from '../../src/hire/hire.ts';
import { insertHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import {
  addSeen,
  addTraces,
  countSeen,
  countSeenByJob,
  countSeenByStage,
  endReconcile,
  hasTraces,
  insertReconcile,
  readAbsent,
  readHiredOf,
  readSeen,
  readTraces,
  type SeenPerson,
  saveReconcile,
  takeReconcile,
} from '../../src/store/reconciles.ts';
import { freshStore, kinds } from './stores.ts';

const TENANT = 'acme';

function person(jobCandidateId: string, seen: SeenPerson['seen'] = 'hired', jobId: string | null = '1'): SeenPerson {
  return { jobCandidateId, candidateId: seen === 'unreadable' ? null : `c${jobCandidateId}`, jobId, seen };
}

function see(store: Store, people: SeenPerson[], stage = 'HIRED') {
  return addSeen(
    store,
    TENANT,
    people.map((one) => ({ ...one, stage })),
  );
}

describe.each(kinds)('whom a reconcile has seen, on %s', (kind) => {
  test('is noted once each, and a trace is kept beside the person', async () => {
    const { store } = await freshStore(kind);
    await addTraces(store, TENANT, new Map([['5', { period: 1 }]]));
    await addTraces(
      store,
      TENANT,
      new Map([
        ['5', { period: 2 }],
        ['9', { period: 1 }],
      ]),
    );
    await see(store, [person('5'), person('6', 'rejected'), person('6', 'rejected')]);
    await see(store, [person('5'), person('7', 'unreadable', null)]);
    expect(await countSeen(store, TENANT)).toEqual({ hired: 1, rejected: 1, unreadable: 1, traced: 1 });
    expect(await readTraces(store, TENANT, ['5', '6'])).toEqual(new Map([['5', { period: 2 }]]));
    expect(await hasTraces(store, TENANT)).toBe(true);
    expect(await hasTraces(store, 'globex')).toBe(false);
    expect(await readSeen(store, TENANT, { after: '5', limit: 1 })).toEqual([person('6', 'rejected')]);
  });

  test('keeps what was known of somebody whose record another list shows broken, and the other way round', async () => {
    const { store } = await freshStore(kind);
    await see(store, [person('5'), person('6', 'unreadable', null)]);
    await see(store, [person('5', 'unreadable', null), person('6', 'unreadable')]);
    const [five, six] = await readSeen(store, TENANT, { after: '', limit: 9 });
    expect([five, six]).toEqual([person('5'), person('6', 'unreadable')]);
    expect(await countSeenByJob(store, TENANT)).toEqual(new Map([['1', 2]]));
    expect(await readHiredOf(store, TENANT, '1')).toEqual(['5']);
  });

  test('is counted in the stage whose list showed them last', async () => {
    const { store } = await freshStore(kind);
    await see(store, [person('5'), person('6'), person('7', 'hired', '2')], 'OFFER');
    await see(store, [person('6'), person('8', 'rejected')]);
    const counts = new Map([
      ['OFFER', 1],
      ['HIRED', 2],
    ]);
    expect(await countSeenByStage(store, TENANT, ['1', '3'])).toEqual(new Map([['1', counts]]));
    expect(await countSeenByStage(store, TENANT, [])).toEqual(new Map());
  });

  test('tells which hires of these jobs have nobody in a hiring stage', async () => {
    const { store } = await freshStore(kind);
    const hire = { tenantId: TENANT, period: 1, state: 'open' } as const;
    for (const [jobCandidateId, jobId] of [
      ['2', '1'],
      ['3', '1'],
      ['4', '1'],
      ['5', '8'],
    ] as const)
      await insertHires(store, [{ ...hire, jobCandidateId, jobId }]);
    await see(store, [person('2'), person('3', 'rejected')]);
    const absent = async (after: string, limit: number) => {
      const rows = await readAbsent(store, TENANT, { jobIds: ['1'], states: hireStates, after, limit });
      return rows.map((row) => row.job_candidate_id);
    };
    expect(await absent('', 9)).toEqual(['3', '4']);
    expect(await absent('', 1)).toEqual(['3']);
    expect(await absent('3', 9)).toEqual(['4']);
  });

  test('is forgotten with its reconcile, by the attempt that works on it and no other', async () => {
    const { store } = await freshStore(kind);
    const start = { plan: { jobs: [] }, position: { page: 1 }, counts: {} };
    const first = { tenantId: TENANT, holder: 'first' };
    expect(await takeReconcile(store, TENANT, 'first')).toBeUndefined();
    await insertReconcile(store, { ...first, kind: 'full', ...start });
    await see(store, [person('5')]);
    await saveReconcile(store, first, { position: { page: 2 }, counts: {} });
    const taken = await takeReconcile(store, TENANT, 'second');
    expect(taken).toMatchObject({ kind: 'full', plan: { jobs: [] }, position: { page: 2 } });
    const late = saveReconcile(store, first, { position: { page: 3 }, counts: {} });
    await expect(late).rejects.toMatchObject({ code: 'RECONCILE_TAKEN_OVER' });
    await expect(insertReconcile(store, { ...first, kind: 'full', ...start })).rejects.toMatchObject({
      code: 'RECONCILE_TAKEN_OVER',
    });
    await endReconcile(store, TENANT, 'first');
    expect((await countSeen(store, TENANT)).hired).toBe(1);
    await endReconcile(store, TENANT, 'second');
    expect((await countSeen(store, TENANT)).hired).toBe(0);
    expect(await takeReconcile(store, TENANT, 'third')).toBeUndefined();
  });
});
