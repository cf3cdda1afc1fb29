import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { openPartner, outcome } from './open-partner.ts';
import { eventually, type Json, openReceiver } from './open-sandbox.ts';

const JOB = 50_001;

/** A job with so many candidates. */
async function openWithPeople(candidates: number, options: Parameters<typeof openPartner>[0] = {}) {
  const sandbox = await openPartner({ jobs: 1, candidates, ...options });
  const people = (await sandbox.partner.readAll(contract.jobCandidates.listByJob, { params: { jobId: JOB } })).items;
  return {
    ...sandbox,
    ids: people.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
    rescore: (body: Json = {}) => sandbox.partner.jobCandidates.rescore({ body: { jobId: JOB, ...body } }),
    read: async (rescoreId: string) => (await sandbox.partner.jobCandidates.getRescore({ params: { rescoreId } })).data,
    rescored: async (rescoreId: string) =>
      (await sandbox.partner.readAll(contract.jobCandidates.listRescored, { params: { rescoreId } })).items,
  };
}

test('a run is accepted at once, scores in the background, one credit each, and tells what came of it', async () => {
  await using sandbox = await openWithPeople(3);
  const before = await sandbox.credits();
  const accepted = await sandbox.api('POST', '/job-candidates/rescore', { jobId: JOB });
  const { rescoreId } = accepted.body.data;
  expect([accepted.status, accepted.body]).toEqual([
    202,
    {
      status: 'accepted',
      data: { rescoreId, jobId: JOB, totalEligible: 3, totalQueued: 3, message: expect.any(String) },
    },
  ]);
  expect(await sandbox.read(rescoreId)).toMatchObject({ status: 'queued', totalProcessed: 0, cappedByCredits: false });
  expect((await sandbox.rescored(rescoreId)).map(({ profileMatchScore }) => profileMatchScore)).toEqual([
    null,
    null,
    null,
  ]);
  expect(await sandbox.credits()).toBe(before);
  await sandbox.later();
  const counts = { totalEligible: 3, totalRequested: 3, totalProcessed: 3, totalFailed: 0, cappedByCredits: false };
  expect(await sandbox.told('job.candidates.rescored')).toEqual([
    { jobId: JOB, rescoreId, status: 'completed', jobCandidateIds: sandbox.ids, ...counts, errors: [] },
  ]);
  expect(await sandbox.read(rescoreId)).toEqual({ rescoreId, jobId: String(JOB), status: 'completed', ...counts });
  const shown = await sandbox.rescored(rescoreId);
  expect(shown.map(({ id }) => Number(id))).toEqual(sandbox.ids);
  const fetched = await sandbox.api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: sandbox.ids });
  expect((await sandbox.api('GET', `/job-candidates/rescore/${rescoreId}/candidates`)).body).toEqual(fetched.body);
  for (const { profileMatchScore } of shown) expect(profileMatchScore).toBeTypeOf('number');
  expect(await sandbox.credits()).toBe(before - 3);
  const again = (await sandbox.rescore()).data.rescoreId;
  await sandbox.later();
  const scores = async (id: string) => (await sandbox.rescored(id)).map(({ profileMatchScore }) => profileMatchScore);
  expect(await scores(again)).not.toEqual(shown.map(({ profileMatchScore }) => profileMatchScore));
});

test('the event is delivered', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openWithPeople(1, { webhookUrl: receiver.url });
  const { rescoreId } = (await sandbox.rescore()).data;
  await sandbox.later();
  const [delivered] = await eventually(
    () => receiver.received,
    (seen) => seen.length === 1,
  );
  expect(delivered?.body).toMatchObject({
    event: 'job.candidates.rescored',
    companyId: sandbox.companyId,
    data: { rescoreId },
  });
});

test('rejected candidates, strangers and other jobs are left out; an empty list is all; a stage narrows', async () => {
  await using sandbox = await openWithPeople(6);
  const [first = 0, second = 0, third = 0] = sandbox.ids;
  await sandbox.control.act('reject', { jobCandidateIds: [first] });
  await sandbox.control.act('move', { jobCandidateIds: [second, third], stageType: 'SHORTLISTED' });
  const elsewhere = await sandbox.control.act('createJob', { job: { title: 'Elsewhere' } });
  const candidate = { email: 'x@example.com' };
  const added = (await sandbox.control.act('addCandidate', { jobId: Number(elsewhere['id']), candidate })) as Json;
  const stageId = (await sandbox.api('GET', '/pipelines')).body.data[0].stages.find(
    (stage: { type: string }) => stage.type === 'SHORTLISTED',
  ).id;
  const shortlisted = (await sandbox.rescore({ stageId })).data;
  expect(shortlisted.totalEligible).toBeGreaterThanOrEqual(2);
  for (const [body, eligible] of [
    [{}, 5],
    [{ jobCandidateIds: [] }, 5],
    [{ jobCandidateIds: [first, second, 999, added.jobCandidateId] }, 1],
    [{ jobCandidateIds: [second, third, third], stageId }, 2],
    [{ jobCandidateIds: [first] }, 0],
  ] as const)
    expect([body, (await sandbox.rescore(body)).data]).toMatchObject([
      body,
      { totalEligible: eligible, totalQueued: eligible },
    ]);
  await sandbox.later();
  expect((await sandbox.told('job.candidates.rescored')).slice(-3)).toMatchObject([
    { totalRequested: 4, jobCandidateIds: [second] },
    { totalRequested: 2, jobCandidateIds: [second, third] },
    { totalRequested: 1, jobCandidateIds: [], status: 'completed' },
  ]);
});

test('a request takes 250 at most: more ids are refused, without ids the first 250 are taken', async () => {
  await using sandbox = await openWithPeople(252);
  const { data } = await sandbox.rescore();
  expect([data.totalEligible, data.totalQueued]).toEqual([252, 250]);
  expect('creditsAvailable' in data).toBe(false);
  await sandbox.later();
  const shown = await sandbox.rescored(data.rescoreId);
  expect(shown.map(({ id }) => Number(id))).toEqual(sandbox.ids.slice(0, 250));
  const body = { jobId: JOB, jobCandidateIds: sandbox.ids.slice(0, 251) };
  expect(await errorOf(sandbox.rescore(body))).toMatchObject({ action: 'reject' });
  expect(outcome(await sandbox.api('POST', '/job-candidates/rescore', body))).toEqual([400, 'INVALID_REQUEST']);
  expect(await sandbox.told('job.candidates.rescored')).toHaveLength(1);
});

test('too few credits cut the run and are named; at zero it is 402', async () => {
  await using sandbox = await openWithPeople(5);
  await sandbox.control.act('setCredits', { credits: 2 });
  const { data } = await sandbox.rescore();
  expect(data).toMatchObject({ totalEligible: 5, totalQueued: 2, creditsAvailable: 2 });
  await sandbox.later();
  expect(await sandbox.told('job.candidates.rescored')).toMatchObject([
    { cappedByCredits: true, totalProcessed: 2, totalRequested: 5 },
  ]);
  expect(await sandbox.credits()).toBe(0);
  expect(await errorOf(sandbox.rescore())).toMatchObject({ status: 402, code: 'INSUFFICIENT_CREDITS' });
  expect(await sandbox.told('job.candidates.rescored')).toHaveLength(1);
});

test('who is gone when it runs has failed; a run that scores nobody has failed', async () => {
  await using sandbox = await openWithPeople(3);
  const [first = 0, second = 0, third = 0] = sandbox.ids;
  const { rescoreId } = (await sandbox.rescore()).data;
  await sandbox.partner.jobCandidates.remove({ params: { jobCandidateId: first } });
  await sandbox.later();
  expect(await sandbox.told('job.candidates.rescored')).toMatchObject([
    {
      status: 'completed',
      totalProcessed: 2,
      totalFailed: 1,
      errors: [{ reason: 'NOT_FOUND', jobCandidateId: first }],
    },
  ]);
  expect((await sandbox.rescored(rescoreId)).map(({ id }) => Number(id))).toEqual([second, third]);
  const failing = (await sandbox.rescore()).data.rescoreId;
  await sandbox.control.act('setCredits', { credits: 0 });
  await sandbox.later();
  expect(await sandbox.read(failing)).toMatchObject({ status: 'failed', totalProcessed: 0, totalFailed: 2 });
  expect((await sandbox.told('job.candidates.rescored')).at(-1)?.errors).toEqual(
    [second, third].map((jobCandidateId) => ({ reason: 'INSUFFICIENT_CREDITS', jobCandidateId })),
  );
});

test("unknown or other companies' jobs and runs are 404; a stage is 404, 403 or 400", async () => {
  await using sandbox = await openWithPeople(1);
  const theirs = await sandbox.control.act('createJob', {
    companyId: sandbox.otherCompanyId,
    job: { title: 'Theirs' },
  });
  const [foreign] = (await sandbox.other.readAll(contract.pipelines.list)).items;
  const mine = (await sandbox.partner.pipelines.create({ body: { name: 'Another' } })).data;
  const another = (await sandbox.partner.pipelines.get({ params: { pipelineId: mine.id } })).data;
  const refused: [body: Json, status: number, code: string][] = [
    [{ jobId: 999 }, 404, 'NOT_FOUND'],
    [{ jobId: theirs['id'] }, 404, 'NOT_FOUND'],
    [{ jobId: JOB, stageId: 999 }, 404, 'NOT_FOUND'],
    [{ jobId: JOB, stageId: Number(foreign?.stages?.[0]?.id) }, 403, 'PERMISSION_DENIED'],
    [{ jobId: JOB, stageId: Number(another.stages?.[0]?.id) }, 400, 'INVALID_REQUEST'],
    [{}, 400, 'INVALID_REQUEST'],
    [{ jobId: String(JOB) }, 400, 'INVALID_REQUEST'],
    [{ jobId: JOB, jobCandidateIds: ['1'] }, 400, 'INVALID_REQUEST'],
  ];
  for (const [body, ...expected] of refused)
    expect([body, ...outcome(await sandbox.api('POST', '/job-candidates/rescore', body))]).toEqual([body, ...expected]);
  const { rescoreId } = (await sandbox.rescore()).data;
  for (const [key, id] of [
    [sandbox.otherKey, rescoreId],
    [sandbox.key, 'unknown'],
  ] as const)
    for (const rest of ['', '/candidates'])
      expect(outcome(await sandbox.api('GET', `/job-candidates/rescore/${id}${rest}`, undefined, { key }))).toEqual([
        404,
        'NOT_FOUND',
      ]);
});

test('a first score is an event; without a credit it fails and the candidate stays unscored', async () => {
  await using sandbox = await openWithPeople(1);
  const add = async (email: string) =>
    (await sandbox.control.act('apply', { jobId: JOB, candidate: { email } })) as Json;
  const scored = await add('a@example.com');
  await sandbox.later();
  const { data } = await sandbox.partner.jobCandidates.bulkFetch({
    body: { jobCandidateIds: [scored.jobCandidateId] },
  });
  const ids = ({ jobCandidateId, candidateId }: Json) => ({ jobId: JOB, jobCandidateId, candidateId });
  const [shown] = data as { profileMatchScore: number }[];
  expect(await sandbox.told('job.candidate.score.completed')).toEqual([
    { ...ids(scored), score: shown?.profileMatchScore },
  ]);
  await sandbox.control.act('setCredits', { credits: 0 });
  const unscored = await add('b@example.com');
  await sandbox.later();
  expect(await sandbox.told('job.candidate.score.failed')).toEqual([
    { ...ids(unscored), error: 'INSUFFICIENT_CREDITS' },
  ]);
  const again = await sandbox.partner.jobCandidates.bulkFetch({ body: { jobCandidateIds: [unscored.jobCandidateId] } });
  expect(again.data).toMatchObject([{ profileMatchScore: null, aiSummary: null }]);
});
