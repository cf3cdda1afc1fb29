import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from '../../../activities/connections.ts';
import {
  type ListedStage,
  listStage,
  proveStageFilter,
  type StageMember,
} from '../../../activities/presence/fetch-job-candidates.ts';
import { readPresence } from '../../../activities/presence/read-presence.ts';
import { refreshJobs } from '../../../activities/reconcile/refresh-jobs.ts';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { Overrides } from '../../../src/partner/contract/assumptions.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { readJobs, readStageFilter, saveStageFilter } from '../../../src/store/jobs.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore } from '../../store/stores.ts';

const DAY_MS = 86_400_000;

/**
 * A tenant whose partner has 120 people in HIRED on each of two jobs, two pages. `unread` names parameters of
 * GET /candidates/list that this partner does not read: the client sends them under a name that the sandbox ignores.
 */
async function tenant(unread: readonly string[] = []) {
  const sandbox = await openSandbox({ jobs: 2, candidates: 12, hired: 240 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { store } = await freshStore('sqlite');
  const overrides = Overrides.parse({
    queryNames: { 'candidates.list': Object.fromEntries(unread.map((name) => [name, `${name}Unread`])) },
  });
  const { url: baseUrl, key: apiKey } = sandbox;
  const partner = createPartnerClient({ baseUrl, apiKey, environment: 'sandbox', allowPrivate: true, overrides });
  onTestFinished(() => partner.close());
  const policies = { enrolAt: ['HIRED'], createAt: ['HIRED'] };
  const facts = { tenant: { tenant: 'acme', policies }, partner, overrides, keyFingerprint: 'one' };
  const connection = facts as unknown as Connection;
  await store.kysely.insertInto('tenants').values({ tenant_id: 'acme', state: 'active' }).execute();
  const { jobs } = await refreshJobs(store, connection);
  const members: StageMember[] = [];
  const jobId = jobs[0]?.jobId ?? '';
  for await (const page of listStage(connection, { jobId, stage: 'HIRED' }, 'live')) members.push(...page.members);
  const applicants = (await listApplicants(sandbox.partner)).filter((one) => String(one.jobId) === jobId);
  const hired = members.at(-1)?.jobCandidateId ?? '';
  const outside = String(applicants[0]?.jobCandidateId);
  return {
    sandbox,
    store,
    connection,
    jobs,
    members,
    /** The last of the list, and somebody of the same job in an early stage. */
    hired,
    outside,
    prove: () => proveStageFilter(store, connection, listedAs(jobId, members)),
    isProven: async () => (await readStageFilter(store, 'acme', 'one', DAY_MS))?.proven,
    verdict: async (id: string) => (await readPresence(store, connection, id, ['HIRED'])).verdict,
    callsOf: (run: () => Promise<unknown>) => countedBy(sandbox.control, run),
  };
}

function listedAs(jobId: string, members: readonly StageMember[]): ListedStage {
  return { jobId, memberIds: members.map(({ jobCandidateId }) => jobCandidateId) };
}

type Control = Awaited<ReturnType<typeof openSandbox>>['control'];

/** The requests that `run` made, by operation. */
async function countedBy(control: Control, run: () => Promise<unknown>): Promise<Record<string, number>> {
  const afterSeq = (await control.ledger({ last: 1 }))[0]?.seq ?? 0;
  await run();
  const rows = await control.ledger({ kind: 'request', afterSeq, limit: 10_000 });
  return Object.fromEntries([...Map.groupBy(rows, ({ name }) => name)].map(([name, some]) => [name, some.length]));
}

test('once a probe has proven the filter, somebody in a long stage is found by one call', async () => {
  const { prove, isProven, verdict, callsOf, hired } = await tenant();
  await prove();
  expect(await isProven()).toBe(true);
  const calls = await callsOf(async () => expect(await verdict(hired)).toBe('in'));
  expect(calls).toEqual({ 'jobCandidates.bulkFetch': 1, 'candidates.list': 1 });
});

test('of a list that ends with an empty page under the true total, nobody is out', async () => {
  const { store, connection, hired, outside, verdict } = await tenant();
  const honest = connection.partner;
  async function* pages(...args: Parameters<typeof honest.pages>) {
    for await (const page of honest.pages(...args))
      if (page.page === 1 || args[0].id !== contract.jobCandidates.listByStageType.id) yield page;
  }
  Object.assign(connection, { partner: { ...honest, pages } });
  for (const id of [hired, outside]) await expect(verdict(id)).rejects.toMatchObject({ code: 'STAGE_LIST_SHORT' });
  const hourLater = performance.now() + 3_600_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => hourLater);
  expect(await verdict(outside)).toBe('out');
  clock.mockRestore();
  // Where the job itself counts no more people than the list shows, the list's total is wrong.
  const bulk = { ...honest, pages, readAll: countedAs(honest, 100) };
  Object.assign(connection, { partner: bulk });
  expect(await verdict(outside)).toBe('out');
  expect((await readJobs(store, 'acme')).length).toBe(2);
});

/** Reads jobs whose own count in each stage is this. */
function countedAs(honest: PartnerClient, totalCandidate: number): PartnerClient['readAll'] {
  const readAll = async (...args: Parameters<PartnerClient['readAll']>) => {
    const read = await honest.readAll(...args);
    if (args[0].id !== contract.jobs.list.id) return read;
    const items = (read.items as { pipelineStage?: object[] }[]).map((job) => ({
      ...job,
      pipelineStage: job.pipelineStage?.map((stage) => ({ ...stage, totalCandidate })),
    }));
    return { ...read, items };
  };
  return readAll as unknown as PartnerClient['readAll'];
}

test('without a probe the filter is not asked and the whole list decides', async () => {
  const { verdict, callsOf, hired, outside } = await tenant(['stageIds']);
  const calls = await callsOf(async () => {
    expect(await verdict(hired)).toBe('in');
    expect(await verdict(outside)).toBe('out');
  });
  // Whoever is out is looked for on the last page first, and then on all.
  expect(calls).toEqual({ 'jobCandidates.bulkFetch': 2, 'jobCandidates.listByStageType': 5 });
});

test('who comes to a list that was long is found by one page, as long as it is no longer', async () => {
  const { sandbox, verdict, callsOf, hired, members } = await tenant();
  expect(await verdict(hired)).toBe('in');
  const found = { 'jobCandidates.bulkFetch': 1, 'jobCandidates.listByStageType': 1 };
  expect(await callsOf(async () => expect(await verdict(hired)).toBe('in'))).toEqual(found);
  const others = members.slice(0, 40).map(({ jobCandidateId }) => Number(jobCandidateId));
  await sandbox.control.act('move', { jobCandidateIds: others, stageType: 'SCREEN' });
  expect(await verdict(hired)).toBe('in');
  expect(await verdict(String(others[0]))).toBe('out');
  expect(await callsOf(async () => expect(await verdict(hired)).toBe('in'))).toEqual(found);
});

test('a probe made with another key, or too long ago, is not believed', async () => {
  const { store, prove, connection, callsOf, verdict, hired } = await tenant();
  await prove();
  await store.kysely.updateTable('tenants').set({ stage_filter_at: 0 }).execute();
  expect(await callsOf(() => verdict(hired))).not.toHaveProperty(['candidates.list']);
  await prove();
  connection.keyFingerprint = 'two';
  expect(await callsOf(() => verdict(hired))).not.toHaveProperty(['candidates.list']);
});

test.for([['stageIds'], ['candidateEmail'], ['stageIds', 'candidateEmail'], ['includeJobApplicationDetails']])(
  'a partner that does not read %s does not prove the filter, and nobody outside counts as in',
  async (unread) => {
    const { prove, isProven, verdict, callsOf, hired, outside } = await tenant(unread);
    await prove();
    expect(await isProven()).toBe(false);
    const calls = await callsOf(async () => {
      expect(await verdict(outside)).toBe('out');
      expect(await verdict(hired)).toBe('in');
    });
    expect(calls).not.toHaveProperty(['candidates.list']);
  },
);

test('a filter that still shows somebody who left the stage is not proven', async () => {
  const { store, prove, isProven, connection, sandbox, members } = await tenant();
  const [left] = members;
  const id = left?.jobCandidateId ?? '';
  const place = { tenant_id: 'acme', job_candidate_id: id, job_id: left?.jobId ?? '', candidate_id: null };
  const hire = { ...place, period: 1, step: 'ended', enrolment: 1, opened_at: 0, updated_at: 0 } as const;
  await store.kysely
    .insertInto('hires')
    .values({ ...hire, state: 'left' })
    .execute();
  // The sandbox shows them because they are in the stage; the probe is told a list without them.
  await proveStageFilter(store, connection, listedAs(left?.jobId ?? '', members.slice(1)));
  expect(await isProven()).toBe(false);
  await store.kysely.updateTable('tenants').set({ stage_filter: null }).execute();
  await sandbox.control.act('move', { jobCandidateIds: [Number(id)], stageType: 'SCREEN' });
  await prove();
  expect(await isProven()).toBe(true);
});

test('somebody whose other application is in the stage is not in it by the filter', async () => {
  const { sandbox, prove, isProven, verdict, outside, jobs } = await tenant();
  await prove();
  expect(await isProven()).toBe(true);
  const { items } = await sandbox.partner.readAll(contract.jobCandidates.bulkFetch, {
    body: { jobCandidateIds: [outside] },
  });
  const email = items[0]?.candidate_details?.email ?? '';
  const second = await sandbox.control.act('addCandidate', {
    candidate: { email },
    jobId: Number(jobs[1]?.jobId),
    stageType: 'HIRED',
  });
  expect(await verdict(outside)).toBe('out');
  expect(await verdict(String((second as { jobCandidateId: number }).jobCandidateId))).toBe('in');
});

test('whoever the filter does not show is looked for in the whole list', async () => {
  const { store, prove, verdict, callsOf, hired, outside } = await tenant();
  await prove();
  const filter = await readStageFilter(store, 'acme', 'one', DAY_MS);
  if (filter === undefined) throw new Error('the probe left nothing');
  // As after a new pipeline: its HIRED stage is not among the ids that the probe read.
  await saveStageFilter(store, 'acme', { ...filter, stageIds: { HIRED: [999_999] } });
  expect(await verdict(hired)).toBe('in');
  const calls = await callsOf(async () => expect(await verdict(outside)).toBe('out'));
  expect(calls).toEqual({ 'jobCandidates.bulkFetch': 1, 'candidates.list': 1, 'jobCandidates.listByStageType': 3 });
});

test('somebody who has just left is out although the filter was proven by them', async () => {
  const { sandbox, prove, verdict, hired } = await tenant();
  await prove();
  expect(await verdict(hired)).toBe('in');
  await sandbox.control.act('move', { jobCandidateIds: [Number(hired)], stageType: 'SCREEN' });
  expect(await verdict(hired)).toBe('out');
});

test('120 looks of one job at the same moment share two fetches of a hundred ids at most and one list', async () => {
  const { verdict, callsOf, members, outside } = await tenant();
  const ids = [...members.map((one) => one.jobCandidateId), outside];
  const verdicts: string[] = [];
  const calls = await callsOf(async () => void verdicts.push(...(await Promise.all(ids.map(verdict)))));
  expect(verdicts).toEqual([...members.map(() => 'in'), 'out']);
  expect(calls['jobCandidates.bulkFetch']).toBe(2);
  expect(calls['jobCandidates.listByStageType']).toBeLessThanOrEqual(4);
});

test('a broken record without an id says nothing about the others of the same fetch', async () => {
  const { sandbox, verdict, hired, outside } = await tenant();
  const broken = { kind: 'schema-surprise', surprise: 'unreadable', items: 1 } as const;
  await sandbox.control.act('addFault', { ...broken, on: 'jobCandidates.bulkFetch', times: 1 });
  expect(await Promise.all([verdict(hired), verdict(outside)])).toEqual(['in', 'out']);
});

test('a page of the list that fails keeps only those waiting whom nothing else shows', async () => {
  const { sandbox, prove, verdict, members, outside } = await tenant();
  await prove();
  const [early, late] = [members[3], members[110]].map((one) => one?.jobCandidateId ?? '');
  const broken = { kind: 'server-error', on: 'jobCandidates.listByStageType' } as const;
  await sandbox.control.act('addFault', { ...broken, holding: 'pageNumber=2' });
  const looks = [early ?? '', late ?? '', outside].map(verdict);
  const [first, second, away] = await Promise.allSettled(looks);
  expect([first, second]).toMatchObject([{ value: 'in' }, { value: 'in' }]);
  expect(away).toMatchObject({ reason: { action: 'retry', status: 500 } });
});

test('while no page of the list answers, the filter is asked for people of a short list, too', async () => {
  const { sandbox, store, prove, verdict, hired, outside } = await tenant();
  await prove();
  await store.kysely.updateTable('jobs').set({ record: '{}' }).execute();
  await sandbox.control.act('addFault', { kind: 'server-error', on: 'jobCandidates.listByStageType' });
  expect(await verdict(hired)).toBe('in');
  await expect(verdict(outside)).rejects.toMatchObject({ action: 'retry' });
});

test('an answer of the list that is lost once is asked for again at once', async () => {
  const { sandbox, verdict, hired, outside } = await tenant();
  const lost = { kind: 'answer-lost', on: 'jobCandidates.listByStageType' } as const;
  await sandbox.control.act('addFault', { ...lost, nth: 2, times: 1 });
  expect(await Promise.all([hired, outside].map(verdict))).toEqual(['in', 'out']);
});
