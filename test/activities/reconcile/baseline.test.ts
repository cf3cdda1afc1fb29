import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { reopen } from '../../../activities/reconcile/baseline.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { StageType } from '../../../src/partner/contract/pipelines.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { markPerson, type PersonId } from '../../../src/store/person-marks.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { openTenant, withPages } from './open-tenant.ts';

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

/** The partner whose stage lists end with an empty page behind their first, as often as `times`. */
function cutLists(honest: PartnerClient, times = Number.POSITIVE_INFINITY): PartnerClient {
  let left = times;
  async function* pages(...args: Parameters<PartnerClient['pages']>) {
    for await (const page of honest.pages(...args)) {
      const isHidden = args[0].id === contract.jobCandidates.listByStageType.id && page.page > 1 && left > 0;
      if (isHidden) left -= 1;
      if (isHidden) return;
      yield page;
    }
  }
  return { ...honest, pages: pages as unknown as PartnerClient['pages'] };
}

test.each([1, 2])('of %d jobs none goes live without people whom its totals tell of', async (jobs) => {
  const { reconcile, started, hiresIn, changePartner } = await openTenant(250, { jobs });
  changePartner((honest) => cutLists(honest));
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_SHORT', action: 'reject' });
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_SHORT' });
  changePartner((honest) => honest);
  expect((await reconcile()).people).toBe(250);
  await reconcile();
  expect([started, await hiresIn('before-go-live')]).toEqual([[], expect.toSatisfy((ids) => ids.length === 250)]);
});

test('totals that go on telling of people whom no list shows keep a tenant back for an hour', async () => {
  const { store, reconcile, changePartner } = await openTenant(150);
  changePartner((honest) => cutLists(honest));
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_SHORT' });
  const hourAgo = sql<number>`baseline_started_at - 3700000`;
  await store.kysely.updateTable('tenants').set({ baseline_started_at: hourAgo }).execute();
  expect((await reconcile()).people).toBe(100);
});

test('a page that comes empty once is read at the second look', async () => {
  const { reconcile, changePartner } = await openTenant(150);
  changePartner((honest) => cutLists(honest, 1));
  expect((await reconcile()).people).toBe(150);
});

test('a list that ended before its total is read again by the next reconcile, and not for ever', async () => {
  const { reconcile, started, hireOneMore, changePartner, callsOf } = await openTenant();
  await reconcile();
  const hired = await hireOneMore();
  changePartner((honest) => withoutOne(honest, hired));
  await reconcile();
  expect(started).toEqual([]);
  changePartner((honest) => honest);
  await reconcile();
  expect(started).toEqual([hired]);
  const other = await hireOneMore();
  changePartner((honest) => withoutOne(honest, other));
  await reconcile();
  await reconcile();
  expect(await callsOf(reconcile)).not.toHaveProperty('jobCandidates.listByStageType');
});

test('somebody away only between the reading of the totals and the list is found by the next reconcile', async () => {
  const { sandbox, reconcile, started, hireOneMore, changePartner } = await openTenant();
  await reconcile();
  const hired = await hireOneMore();
  const move = (stageType: StageType) => sandbox.control.act('move', { jobCandidateIds: [Number(hired)], stageType });
  changePartner((honest) => {
    async function* pages(...args: Parameters<PartnerClient['pages']>) {
      const isStage = args[0].id === contract.jobCandidates.listByStageType.id;
      if (isStage) await move('SHORTLISTED');
      const all: unknown[] = [];
      for await (const page of honest.pages(...args)) all.push(page);
      if (isStage) await move('HIRED');
      yield* all;
    }
    return { ...honest, pages: pages as unknown as PartnerClient['pages'] };
  });
  await reconcile();
  expect(started).toEqual([]);
  changePartner((honest) => honest);
  await reconcile();
  expect(started).toEqual([hired]);
});

/** The partner whose stage lists do not show this person, whom their total counts. */
function withoutOne(honest: PartnerClient, jobCandidateId: string): PartnerClient {
  return withPages(honest, (list, page) => {
    if (list.id !== contract.jobCandidates.listByStageType.id) return page;
    const items = page.items as { jobCandidateDetails: { id: string } }[];
    return { ...page, items: items.filter((one) => String(one.jobCandidateDetails.id) !== jobCandidateId) };
  });
}

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

const erase = (store: Store, one: PersonId) =>
  markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ann', about: 'e' }, [one]);

test('whoever was erased and is still hired at the partner is started by no pass', async () => {
  const { sandbox, store, reconcile, started, hireOneMore } = await openTenant();
  await reconcile();
  const people = await listApplicants(sandbox.partner);
  const hired = [await hireOneMore(), await hireOneMore(), await hireOneMore()];
  const [, second] = people.filter(({ jobCandidateId }) => hired.includes(String(jobCandidateId)));
  await erase(store, { kind: 'job-candidate', id: hired[0] ?? '' });
  await erase(store, { kind: 'candidate', id: String(second?.candidateId) });
  for (let passes = 0; passes < 2; passes += 1) await reconcile();
  const left = hired.filter((id) => id !== hired[0] && id !== String(second?.jobCandidateId));
  expect(new Set(started)).toEqual(new Set(left));
});

test('whoever is erased while the HR system is asked about their earlier hire is not taken up again', async () => {
  const { store, deps, started, hiresIn } = await openTenant();
  const find = async () => {
    await erase(store, { kind: 'candidate', id: '501' });
    return { kind: 'none' };
  };
  const hris = { capabilities: { storesReference: true }, employees: { find } } as unknown as OwnHris;
  const connection = { ...(await deps.connections.of('acme')), hris };
  const trace = { period: 2, enrolment: 1, onboardingCandidateId: '7', reference: 'r', isOver: false };
  await reopen(
    { deps, connection, tenantId: 'acme' },
    { jobCandidateId: '9501', candidateId: '501', jobId: '1' },
    trace,
  );
  expect([await hiresIn('open'), started]).toEqual([[], []]);
});
