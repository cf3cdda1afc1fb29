import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import { createLogger } from '../../../src/log.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { defaultOverrides } from '../../../src/partner/contract/overrides.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore } from '../../store/stores.ts';

/** A tenant about to go live: a real partner with three people hired long ago, a real store, and no employees. */
async function tenant(hired = 3) {
  const sandbox = await openSandbox({ jobs: 1, candidates: 6, hired });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore('sqlite');
  const started: string[] = [];
  let partner: PartnerClient = sandbox.partner;
  const connection = () =>
    ({
      tenant: { tenant: 'acme', partner: {}, policies: { enrolAt: ['HIRED'], createAt: ['HIRED'] } },
      partner,
      hris: { capabilities: { storesReference: false, readLagMs: 0 } },
      overrides: defaultOverrides,
      keyFingerprint: 'one',
    }) as unknown as Connection;
  const deps = {
    store,
    log: createLogger('test'),
    limits: { giveUpMs: 1000, partnerLagMs: 0, pausedMs: 1000 },
    closedGates: new Set(),
    connections: { of: async () => connection() },
    signalHire: async ({ jobCandidateId }: { jobCandidateId: string }) => {
      started.push(jobCandidateId);
      return true;
    },
  } as unknown as ActivityDeps;
  return {
    sandbox,
    store,
    started,
    reconcile: () => reconcile(deps, { tenantId: 'acme' }),
    /** So that the next reconcile lists the job again. */
    hireOneMore: async () => {
      const [applicant] = await listApplicants(sandbox.partner);
      const id = applicant?.jobCandidateId ?? 0;
      await sandbox.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
      return String(id);
    },
    /** The partner as it answers with its last hired person's record broken, its id still there. */
    breakLast: (broken: boolean) => {
      partner = broken ? withLastUnreadable(sandbox) : sandbox.partner;
    },
  };
}

function withLastUnreadable({ partner }: OpenSandbox): PartnerClient {
  const listed = contract.jobCandidates.listByStageType.id;
  async function* pages(...args: Parameters<PartnerClient['pages']>) {
    for await (const page of partner.pages(...args)) {
      if (args[0].id !== listed) yield page;
      else {
        const items = [...page.items] as { jobCandidateDetails: { id: number } }[];
        const id = String(items.pop()?.jobCandidateDetails.id);
        yield { ...page, items, unreadable: [{ index: items.length, id, reason: 'candidateId: expected a number' }] };
      }
    }
  }
  return { ...partner, pages: pages as unknown as PartnerClient['pages'] };
}

test('somebody hired before go-live whose record could not be read then is no hire when it can be read', async () => {
  const { reconcile, started, breakLast, hireOneMore } = await tenant();
  breakLast(true);
  expect((await reconcile()).unreadable).toBe(1);
  breakLast(false);
  const hired = await hireOneMore();
  expect((await reconcile()).people).toBe(4);
  expect(started).toEqual([hired]);
});

test('a tenant does not go live while a hired person’s record has no id, and does by itself afterwards', async () => {
  const { sandbox, reconcile, started, hireOneMore } = await tenant();
  const fault = {
    kind: 'schema-surprise',
    surprise: 'unreadable',
    items: 1,
    on: 'jobCandidates.listByStageType',
  } as const;
  await sandbox.control.act('addFault', { ...fault, times: 1 });
  await expect(reconcile()).rejects.toMatchObject({ code: 'BASELINE_UNREADABLE', action: 'retry' });
  expect((await reconcile()).people).toBe(3);
  const hired = await hireOneMore();
  await reconcile();
  expect(started).toEqual([hired]);
});

test('people hired on a job whose own record cannot be read belong to the baseline', async () => {
  const { sandbox, reconcile, started } = await tenant();
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
  const { sandbox, reconcile } = await tenant(150);
  expect((await reconcile()).people).toBe(150);
  const lists = await sandbox.control.ledger({ kind: 'request', name: 'jobCandidates.listByStageType' });
  expect(lists.length).toBeGreaterThanOrEqual(4);
});

test('one unreadable record of somebody hired before go-live keeps nobody else waiting', async () => {
  const { reconcile, started, breakLast, hireOneMore } = await tenant();
  await reconcile();
  const hired = await hireOneMore();
  breakLast(true);
  expect((await reconcile()).unreadable).toBeGreaterThan(0);
  expect(started).toEqual([hired]);
});

test('sixty people who leave together are all noted, by one fetch and one more list', async () => {
  const { sandbox, store, reconcile } = await tenant(60);
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
