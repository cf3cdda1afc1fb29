import { describe, expect, test } from 'vitest';
import { openHire } from '../../../activities/hire/open-hire.ts';
import type { OwnHris } from '../../../activities/own-hris.ts';
import { askAbout } from '../../../activities/reconcile/baseline.ts';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { noteRestored, readRestore } from '../../../src/store/backups.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { findHireRow, insertHires, latestHire, updateHire } from '../../../src/store/hires.ts';
import { answerHold, closeAllHolds, listHolds } from '../../../src/store/holds.ts';
import { findPerson } from '../../../src/store/persons.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { kinds } from '../../store/stores.ts';
import { openTenant } from './open-tenant.ts';

test('a question that was closed with its removed tenant is asked again when the tenant is back', async () => {
  const { deps, store } = await openTenant(0);
  const ask = () => askAbout(deps, 'acme', 'REBUILT_BASELINE', ['600001']);
  await ask();
  await closeAllHolds(store, 'acme');
  await ask();
  await ask();
  expect(await listHolds(store)).toMatchObject([{ code: 'REBUILT_BASELINE' }]);
});

/** A tenant of which Temporal knows a reconcile that its store does not know of. */
async function restored(database?: (typeof kinds)[number]) {
  const tenant = await lost(database);
  await tenant.reconcile();
  return tenant;
}

/** A tenant whose store is new, and whose partner and HR system may know of hires of ours. */
async function lost(database: (typeof kinds)[number] = 'sqlite', more: Parameters<typeof openTenant>[1] = {}) {
  const tenant = await openTenant(1, { database, ...more });
  const { partner, control } = tenant.sandbox;
  const [flow] = (await partner.readAll(contract.onboarding.listFlows)).items;
  const applicants = (await listApplicants(partner)).map(({ jobCandidateId }) => jobCandidateId);
  return {
    ...tenant,
    applicants,
    /** As the tenant's own worker enrolled them after the backup. */
    enrol: (jobCandidateId: number, period = 1) =>
      partner.onboarding.enrol({
        params: { flowId: flow?.flowId ?? '' },
        body: {
          firstName: 'Ada',
          lastName: 'Byron',
          email: `${jobCandidateId}@example.org`,
          externalRef: `hirebridge:${jobCandidateId}:${period}`,
        },
      }),
    remove: (jobCandidateId: number) => control.act('deleteJobCandidate', { jobCandidateIds: [jobCandidateId] }),
    /** The store is one of an hour ago. */
    restore: () =>
      tenant.store.kysely
        .updateTable('tenants')
        .set((eb) => ({ reconciled_at: eb('reconciled_at', '-', 3_600_000) }))
        .execute(),
  };
}

test.each(kinds)(
  'a store that knows less than the last reconcile was restored: who left since then is followed, in %s',
  async (database) => {
    const { store, reconcile, started, applicants, enrol, restore } = await restored(database);
    const id = applicants[0] ?? 0;
    const { data } = await enrol(id);
    await reconcile();
    expect(started).toEqual([]);
    expect(await latestHire(store, 'acme', String(id))).toBeUndefined();
    await restore();
    await reconcile();
    expect(new Set(started)).toEqual(new Set([String(id)]));
    expect(await latestHire(store, 'acme', String(id))).toMatchObject({
      state: 'open',
      period: 1,
      candidate_id: expect.any(String),
      onboarding_candidate_id: data.onboardingCandidateId,
    });
  },
);

test('who was hired again after the backup, and left, is followed although their first hire is known', async () => {
  const { store, reconcile, started, applicants, enrol, restore } = await restored();
  const id = applicants[0] ?? 0;
  const first = { tenantId: 'acme', jobCandidateId: String(id), period: 1 };
  await insertHires(store, [{ ...first, state: 'open' }]);
  await endHire(store, first, 'left');
  await enrol(id, 2);
  await restore();
  await reconcile();
  expect(new Set(started)).toEqual(new Set([String(id)]));
  expect(await latestHire(store, 'acme', String(id))).toMatchObject({
    state: 'open',
    period: 2,
    onboarding_reference: `hirebridge:${id}:2`,
  });
});

test.each(kinds)(
  'who was hired again after the backup, and stays, is followed although their first hire is known, in %s',
  async (database) => {
    const { store, reconcile, started, applicants, enrol, restore, sandbox } = await restored(database);
    const id = applicants[0] ?? 0;
    const first = { tenantId: 'acme', jobCandidateId: String(id), period: 1 };
    await insertHires(store, [{ ...first, state: 'open' }]);
    await endHire(store, first, 'done');
    await enrol(id, 2);
    await sandbox.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
    await restore();
    await reconcile();
    expect(started).toContain(String(id));
    expect(await findHireRow(store, first)).toMatchObject({ state: 'left' });
    expect(await latestHire(store, 'acme', String(id))).toMatchObject({
      state: 'open',
      period: 2,
      onboarding_reference: `hirebridge:${id}:2`,
    });
  },
);

test.each(kinds)(
  'who was hired again after the backup goes on in that hire although the first one is known as open, in %s',
  async (database) => {
    const { store, deps, applicants, enrol, restore } = await restored(database);
    const id = applicants[0] ?? 0;
    const first = { tenantId: 'acme', jobCandidateId: String(id), period: 1 };
    await insertHires(store, [{ ...first, state: 'open' }]);
    await updateHire(store, first, { onboarding_candidate_id: 'of the first hire' });
    await enrol(id, 2);
    await restore();
    const begun: unknown[] = [];
    const signalHire: typeof deps.signalHire = async ({ jobCandidateId }, _, { behind }) =>
      begun.push([jobCandidateId, behind]) > 0;
    await reconcile({ ...deps, signalHire }, { tenantId: 'acme' });
    expect(begun).toContainEqual([String(id), 2]);
    expect(await latestHire(store, 'acme', String(id))).toMatchObject({ period: 1, state: 'open' });
  },
);

test('a workflow whose hire the restored store does not know is told to begin anew', async () => {
  const { reconcile, started, followed, applicants, restore } = await restored();
  followed.push(String(applicants[1]));
  await restore();
  await reconcile();
  expect(started).toContain(String(applicants[1]));
});

test('whom neither the restored store nor the partner knows any more is asked about', async () => {
  const { store, reconcile, started, applicants, enrol, remove, restore } = await restored();
  const id = applicants[0] ?? 0;
  await enrol(id);
  await remove(id);
  await restore();
  await reconcile();
  expect(started).toEqual([]);
  expect(await listHolds(store)).toMatchObject([
    { code: 'HIRES_NOT_RESTORED', job_candidate_id: null, details: JSON.stringify({ jobCandidateIds: [String(id)] }) },
  ]);
});

describe.each(kinds)('a hire whose workflow knows more than the restored store, in %s', (database) => {
  const behind = (jobCandidateId: number, period: number) => ({
    tenantId: 'acme',
    jobCandidateId: String(jobCandidateId),
    adopt: false,
    watch: true,
    behind: period,
  });

  test('goes on where its person left the stage, so that its end looks in the HR system', async () => {
    const { store, deps, applicants } = await restored(database);
    const id = applicants[0] ?? 0;
    expect(await openHire(deps, { ...behind(id, 2), behind: 0 })).toMatchObject({ verdict: 'closed' });
    expect(await openHire(deps, behind(id, 2))).toMatchObject({ verdict: 'open', period: 2 });
    expect(await latestHire(store, 'acme', String(id))).toMatchObject({
      state: 'open',
      candidate_id: expect.any(String),
    });
  });

  test('is asked about where the partner does not show the application any more, once for all of them', async () => {
    const { store, deps, reconcile, applicants, remove } = await restored(database);
    const ids = applicants.slice(0, 5);
    await noteRestored(store, 'ada');
    for (const id of ids) await remove(id);
    await Promise.all(ids.map((id) => openHire(deps, behind(id, 1))));
    await openHire(deps, behind(ids[0] ?? 0, 1));
    await reconcile();
    await reconcile();
    const holds = await listHolds(store, { tenantId: 'acme', all: true });
    expect(holds).toMatchObject([{ code: 'HIRES_NOT_RESTORED', closed_at: null }]);
    const { jobCandidateIds } = JSON.parse(holds[0]?.details ?? '{}') as { jobCandidateIds: string[] };
    expect(new Set(jobCandidateIds)).toEqual(new Set(ids.map(String)));
    expect((await readRestore(store))?.tenants.flatMap(({ asked }) => asked)).toMatchObject([
      { holdId: holds[0]?.hold_id, isOpen: true },
    ]);
  });

  test('is not asked about again once somebody answered', async () => {
    const { store, deps, reconcile, applicants, enrol, remove, restore } = await restored(database);
    const [id = 0, other = 0] = applicants;
    for (const one of [id, other]) {
      await enrol(one);
      await remove(one);
    }
    await openHire(deps, behind(id, 1));
    await reconcile();
    const [hold] = await listHolds(store);
    await answerHold(store, hold?.hold_id ?? '', { answer: 'dismiss', arguments: [], by: 'somebody' });
    await restore();
    await reconcile();
    expect((await listHolds(store)).map(({ details }) => details)).toEqual([
      JSON.stringify({ jobCandidateIds: [String(other)] }),
    ]);
  });

  test('knows its enrolment, which its end terminates', async () => {
    const onboarding = { flow: 'a', deadline: 1000 };
    const { store, deps, applicants, enrol, reconcile } = await lost(database, { onboarding });
    await reconcile();
    const id = applicants[0] ?? 0;
    const { data } = await enrol(id, 2);
    await openHire(deps, behind(id, 2));
    expect(await latestHire(store, 'acme', String(id))).toMatchObject({
      state: 'open',
      onboarding_candidate_id: data.onboardingCandidateId,
      onboarding_reference: `hirebridge:${id}:2`,
    });
  });
});

test('the reconcile after that one looks for nobody who is unknown', async () => {
  const { reconcile, callsOf, restore } = await restored();
  await restore();
  expect(await callsOf(reconcile)).toHaveProperty('onboarding.listCandidates');
  expect(await callsOf(reconcile)).not.toHaveProperty('onboarding.listCandidates');
});

const stays = [true, false].flatMap((isIn) =>
  kinds.map((database) => [isIn ? 'is hired' : 'has left', database] as const),
);

test.each(stays)(
  'a store that is rebuilt takes up the application that was enrolled and %s, not another one of its person, in %s',
  async (stay, database) => {
    const employed = new Set<string>();
    const { reconcile, started, hiresIn, enrol, sandbox } = await lost(database, { jobs: 2, employed });
    const [first] = await listApplicants(sandbox.partner);
    const jobs = (await sandbox.partner.readAll(contract.jobs.list)).items;
    const other = jobs.find(({ id }) => Number(id) !== first?.jobId);
    const people = (await sandbox.partner.readAll(contract.candidates.list)).items;
    const candidate = { email: people.find(({ id }) => Number(id) === first?.candidateId)?.email ?? '' };
    const added = await sandbox.control.act('addCandidate', { candidate, jobId: Number(other?.id) });
    const second = (added as { jobCandidateId: number }).jobCandidateId;
    const ids = [first?.jobCandidateId ?? 0, second];
    await sandbox.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
    employed.add(`acme:${first?.candidateId}`);
    await enrol(second);
    if (stay === 'has left') await sandbox.control.act('move', { jobCandidateIds: [second], stageType: 'SCREEN' });
    await reconcile();
    expect(new Set(started)).toEqual(new Set([String(second)]));
    expect(await hiresIn('before-go-live')).toContain(String(ids[0]));
    expect(await hiresIn('open')).toEqual([String(second)]);
  },
);

test.each(kinds)(
  'a store that is rebuilt asks about who was hired again, unless their employee carries our reference, in %s',
  async (database) => {
    const employed = new Set<string>();
    const { store, reconcile, enrol, sandbox } = await lost(database, { employed });
    const [again, ours, once] = await listApplicants(sandbox.partner);
    const ids = [again, ours, once].map((one) => one?.jobCandidateId ?? 0);
    await sandbox.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
    for (const [index, id] of ids.entries()) await enrol(id, index === 2 ? 1 : 2);
    employed.add(`acme:${ours?.candidateId}`);
    await reconcile();
    const recordedOf = async (applicant: typeof again) => {
      const candidate = { company: 'acme', candidateId: String(applicant?.candidateId) };
      return (await findPerson(store, { connection: 'hr', candidate })).recorded;
    };
    const earlier = { how: 'baseline', tenantId: 'acme', jobCandidateId: String(ids[0]), period: 1 };
    expect(await recordedOf(again)).toEqual(earlier);
    expect(await recordedOf(ours)).toBeUndefined();
    expect(await recordedOf(once)).toBeUndefined();
    expect(await latestHire(store, 'acme', String(ids[0]))).toMatchObject({ state: 'open', period: 2 });
  },
);

test.each(kinds)(
  'a store that is rebuilt follows who was enrolled and has left, unless nothing is to be ended, in %s',
  async (database) => {
    const { store, reconcile, started, applicants, enrol, remove, sandbox } = await lost(database);
    const [left = 0, over = 0, gone = 0] = applicants;
    for (const id of [left, gone]) await enrol(id);
    const { data } = await enrol(over);
    const params = { onboardingCandidateId: data.onboardingCandidateId };
    await sandbox.partner.onboarding.terminate({ params, body: { reason: 'hire cancelled' } });
    await remove(gone);
    await reconcile();
    expect(new Set(started)).toEqual(new Set([String(left)]));
    expect(await latestHire(store, 'acme', String(left))).toMatchObject({ state: 'open', period: 1 });
    expect(await latestHire(store, 'acme', String(over))).toBeUndefined();
    const named = (await listHolds(store)).find(({ code }) => code === 'HIRES_NOT_RESTORED');
    expect(named?.details).toBe(JSON.stringify({ jobCandidateIds: [String(gone)] }));
  },
);

describe.each(kinds)('two tenants of a company, one of which finds employees of ours, in %s', (database) => {
  async function rebuilt({ jobs = 1, receives = {}, scoped = false }: RebuiltOptions = {}) {
    const { store, deps, sandbox } = await openTenant(jobs, { database, jobs });
    const { items: hired } = await sandbox.partner.readAll(contract.jobCandidates.listByStageType, {
      query: { stageType: 'HIRED' },
    });
    const [ofAcme = '', ...others] = new Set(hired.map((one) => String(one.jobCandidateDetails.jobId)));
    for (const id of ['acme', 'sister']) await readTenantState(store, id);
    const apply = (id: string, change: object) =>
      store.kysely
        .updateTable('tenants')
        .set({ version: 1, receives: JSON.stringify({ company: '17', ...change }) })
        .where('tenant_id', '=', id)
        .execute();
    await apply('acme', receives);
    await apply('sister', {});
    const hris = { capabilities: { storesReference: true }, employees: { find: async () => ({ kind: 'one' }) } };
    const connections = {
      ...deps.connections,
      of: async (tenantId: string) => {
        const connection = await deps.connections.of(tenantId);
        const scope = { jobs: tenantId === 'acme' ? [ofAcme] : others };
        const partner = { ...connection.tenant.partner, company: '17' };
        const tenant = { ...connection.tenant, tenant: tenantId, partner, ...(scoped ? { scope } : {}) };
        return { ...connection, tenant, ...(tenantId === 'sister' ? { hris: hris as unknown as OwnHris } : {}) };
      },
    };
    const goLive = (tenantId: string) => reconcile({ ...deps, connections }, { tenantId });
    const bothGoLive = async (first: string) => {
      await goLive(first);
      await goLive(first === 'acme' ? 'sister' : 'acme');
    };
    const asked = async () =>
      (await listHolds(store, { tenantId: 'acme' })).map(({ code, details }) => [code, details]);
    const ids = hired.filter((one) => !scoped || String(one.jobCandidateDetails.jobId) === ofAcme);
    const jobCandidateIds = ids.map(({ jobCandidateDetails: { id } }) => String(id));
    const remove = (tenantId: string) =>
      store.kysely.updateTable('tenants').set({ state: 'removed' }).where('tenant_id', '=', tenantId).execute();
    return {
      store,
      goLive,
      bothGoLive,
      asked,
      remove,
      question: ['REBUILT_BASELINE', JSON.stringify({ jobCandidateIds })],
    };
  }

  test.each(['acme', 'sister'])('the other one asks, too, if %s goes live first', async (first) => {
    const { bothGoLive, asked, question } = await rebuilt();
    await bothGoLive(first);
    expect(await asked()).toEqual([question]);
  });

  test.each(['acme', 'sister'])('what was recorded long before is not asked about, if %s went first', async (first) => {
    const { store, goLive, asked } = await rebuilt();
    await goLive(first);
    await store.kysely
      .updateTable('tenants')
      .set((eb) => ({ baseline_started_at: eb('baseline_started_at', '-', 7 * 86_400_000) }))
      .where('tenant_id', '=', first)
      .execute();
    await goLive(first === 'acme' ? 'sister' : 'acme');
    expect(await asked()).toEqual([]);
  });

  test.each(['acme', 'sister'])('the other one asks about its own jobs alone, if %s goes live first', async (first) => {
    const { bothGoLive, asked, question } = await rebuilt({ jobs: 2, scoped: true });
    await bothGoLive(first);
    expect(await asked()).toEqual([question]);
  });

  test.each(['acme', 'sister'])('one that only observes is not asked, if %s goes live first', async (first) => {
    const { bothGoLive, asked } = await rebuilt({ receives: { mode: 'observe' } });
    await bothGoLive(first);
    expect(await asked()).toEqual([]);
  });

  test('one that was removed is not asked', async () => {
    const { goLive, asked, remove } = await rebuilt();
    await goLive('acme');
    await remove('acme');
    await goLive('sister');
    expect(await asked()).toEqual([]);
  });

  test('what a removed one found counts no more', async () => {
    const { goLive, asked, remove } = await rebuilt();
    await goLive('sister');
    await remove('sister');
    await goLive('acme');
    expect(await asked()).toEqual([]);
  });
});

interface RebuiltOptions {
  jobs?: number;
  /** Of the tenant that finds nobody. */
  receives?: object;
  /** Each tenant takes jobs of its own. */
  scoped?: boolean;
}
