import { expect, test } from 'vitest';
import type { Store } from '../../../src/store/open-store.ts';
import { openTenant } from './open-tenant.ts';

test('somebody hired before go-live whose record could not be read then is no hire when it can be read', async () => {
  const { reconcile, started, breakLast, hireOneMore } = await openTenant();
  breakLast(true);
  expect((await reconcile()).unreadable).toBe(1);
  breakLast(false);
  const hired = await hireOneMore();
  expect((await reconcile()).people).toBe(4);
  expect(started).toEqual([hired]);
});

test.each([1, 2])('a hired person’s record without an id keeps a tenant of %d jobs from going live', async (jobs) => {
  const { sandbox, reconcile, started, hireOneMore } = await openTenant(3, { jobs });
  const fault = {
    kind: 'schema-surprise',
    surprise: 'unreadable',
    items: 1,
    on: 'jobCandidates.listByStageType',
  } as const;
  await sandbox.control.act('addFault', { ...fault, times: 1 });
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_UNREADABLE', action: 'reject' });
  expect((await reconcile()).people).toBe(3);
  const hired = await hireOneMore();
  await reconcile();
  expect(started).toEqual([hired]);
});

test('people hired on a job whose own record cannot be read belong to the baseline', async () => {
  const { sandbox, reconcile, started } = await openTenant();
  await sandbox.control.act('addFault', {
    kind: 'schema-surprise',
    surprise: 'unreadable',
    items: 1,
    on: 'jobs.list',
    times: 1,
  });
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_UNREADABLE' });
  expect((await reconcile()).people).toBe(3);
  expect(started).toEqual([]);
});

test('a list of several pages is read twice at go-live, so that a page that shifts passes nobody over', async () => {
  const { sandbox, reconcile } = await openTenant(150);
  expect((await reconcile()).people).toBe(150);
  const lists = await sandbox.control.ledger({ kind: 'request', name: 'jobCandidates.listByStageType' });
  expect(lists.length).toBeGreaterThanOrEqual(4);
});

test('one unreadable record of somebody hired before go-live keeps nobody else waiting', async () => {
  const { reconcile, started, breakLast, hireOneMore } = await openTenant();
  await reconcile();
  const hired = await hireOneMore();
  breakLast(true);
  expect((await reconcile()).unreadable).toBeGreaterThan(0);
  expect(started).toEqual([hired]);
});

test('sixty people who leave together are all noted, by one fetch and one more list', async () => {
  const { sandbox, store, reconcile } = await openTenant(60);
  await reconcile();
  const ids = (await latestIds(store)).map(Number);
  await sandbox.control.act('move', { jobCandidateIds: ids, stageType: 'SCREEN' });
  const afterSeq = (await sandbox.control.ledger({ last: 1 }))[0]?.seq ?? 0;
  await reconcile();
  const left = await store.kysely.selectFrom('hires').selectAll().where('state', '=', 'left').execute();
  expect(left).toHaveLength(60);
  const calls = await sandbox.control.ledger({ kind: 'request', afterSeq });
  expect(calls.map(({ name }) => name).toSorted()).toEqual([
    'jobCandidates.bulkFetch',
    'jobCandidates.listByStageType',
    'jobCandidates.listByStageType',
    'jobs.list',
  ]);
});

async function latestIds(store: Store): Promise<string[]> {
  const rows = await store.kysely.selectFrom('hires').select('job_candidate_id').execute();
  return rows.map((row) => row.job_candidate_id);
}
