import { expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';

async function openWithPeople(people = 12) {
  const sandbox = await openSandbox({ jobs: 1, candidates: people });
  const [job] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const listed = (await sandbox.api('GET', `/job-candidates/job/${job.id}/candidates?perPage=100`)).body.data;
  const { stages } = (await sandbox.api('GET', `/pipelines/${job.pipelineId}`)).body.data;
  const stage = (type: string) => stages.find((one: { type: string }) => one.type === type).id as number;
  return { sandbox, job, listed, stage };
}

const eventsOf = async (sandbox: Awaited<ReturnType<typeof openSandbox>>, name: string) =>
  (await sandbox.control.ledger({ kind: 'event', name })).map((event) => event.detail);

test('the record shows no stage; membership is by the lists', async () => {
  await using people = await wrap();
  const { sandbox, job, listed, stage } = people;
  const record = listed[0];
  expect(Object.keys(record)).toEqual([
    'id',
    'jobId',
    'candidateId',
    'profileMatchScore',
    'evaluationStatus',
    'criteriaMatches',
    'recommendToRecruitingFirm',
    'aiSummary',
    'candidate_details',
  ]);
  await sandbox.api('PUT', `/job-candidates/${record.id}/stage`, { stageId: stage('SHORTLISTED') });
  for (const path of [
    `/job-candidates/stage?stageType=Shortlisted&jobId=${job.id}`,
    `/job-candidates/stage/${stage('SHORTLISTED')}/candidates`,
  ]) {
    const { data } = (await sandbox.api('GET', `${path}${path.includes('?') ? '&' : '?'}perPage=100`)).body;
    const mine = data.find((one: { jobCandidateDetails: { id: number } }) => one.jobCandidateDetails.id === record.id);
    expect(mine).toMatchObject({ candidate_details: record.candidate_details, onboardingFormDetails: null });
  }
});

test('a move emits candidate.stage_changed, into HIRED also candidate.hired, to the same stage nothing', async () => {
  await using people = await wrap();
  const { sandbox, job, listed, stage } = people;
  const { id, candidateId } = listed[0];
  await sandbox.api('PUT', `/job-candidates/${id}/stage`, { stageId: stage('SCREEN') });
  const before = (await eventsOf(sandbox, 'candidate.stage_changed')).length;
  const moved = await sandbox.api('PUT', `/job-candidates/${id}/stage`, { stageId: stage('HIRED') });
  expect(moved.body.data).toEqual({
    jobCandidateId: id,
    jobId: job.id,
    candidateId,
    stageId: stage('HIRED'),
    stageName: 'Hired',
    stageType: 'HIRED',
    status: 'IN_PROGRESS',
  });
  expect((await eventsOf(sandbox, 'candidate.stage_changed')).slice(before)).toEqual([
    {
      jobId: job.id,
      currentStageId: stage('SCREEN'),
      nextStageId: stage('HIRED'),
      jobCandidateIds: [id],
      candidateIds: [candidateId],
    },
  ]);
  expect(await eventsOf(sandbox, 'candidate.hired')).toEqual([
    { jobId: job.id, jobCandidateIds: [id], candidateIds: [candidateId] },
  ]);
  expect((await sandbox.api('PUT', `/job-candidates/${id}/stage`, { stageId: stage('HIRED') })).status).toBe(200);
  expect((await eventsOf(sandbox, 'candidate.hired')).length).toBe(1);
  await sandbox.api('PUT', `/job-candidates/${id}/stage`, { stageId: stage('SCREEN') });
  expect((await eventsOf(sandbox, 'candidate.hired')).length).toBe(1);
});

test('many moved at once in the dashboard are one candidate.hired with all ids', async () => {
  await using people = await wrap();
  const { sandbox, listed } = people;
  const ids = listed.slice(0, 5).map((one: { id: number }) => one.id);
  const { moved } = await sandbox.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
  expect(moved.map((one) => one.stageType)).toEqual(Array(5).fill('HIRED'));
  const hired = await eventsOf(sandbox, 'candidate.hired');
  expect(hired).toHaveLength(1);
  expect(hired[0]?.['jobCandidateIds']).toEqual(ids);
});

test('deleting removes the link, keeps the profile, and tells; a deleted person leaves one event a job', async () => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 2 });
  const { api, control } = sandbox;
  const jobs = (await api('GET', '/jobs')).body.jobs;
  const [first, second] = (await api('GET', '/candidates/list')).body.data;
  const [own] = (await api('GET', `/candidates/${first.id}`)).body.data.jobs;
  expect((await api('DELETE', `/job-candidates/${own.jobCandidateId}`)).body.status).toBe('success');
  expect((await api('DELETE', `/job-candidates/${own.jobCandidateId}`)).status).toBe(404);
  expect((await api('GET', `/candidates/${first.id}`)).body.data.jobs).toEqual([]);
  expect(
    (await api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: [own.jobCandidateId] })).body.data,
  ).toEqual([]);
  for (const job of jobs) await api('POST', '/candidates', { email: second.email, jobId: job.id });
  await control.act('deleteCandidate', { candidateIds: [second.id] });
  const removed = await eventsOf(sandbox, 'candidate.removed_from_job');
  expect(removed).toHaveLength(3);
  expect(new Set(removed.slice(1).map((event) => event['jobId']))).toEqual(
    new Set(jobs.map((job: { id: number }) => job.id)),
  );
  expect((await api('GET', `/candidates/${second.id}`)).status).toBe(404);
});

test('rejecting, in the dashboard or by evaluationStatus, tells candidate.rejected once', async () => {
  await using people = await wrap();
  const { sandbox, job, listed } = people;
  const [one, two] = listed;
  await sandbox.control.act('reject', { jobCandidateIds: [one.id], reason: 'Withdrew' });
  const patched = await sandbox.api('PATCH', `/job-candidates/${two.id}`, {
    evaluationStatus: 'REJECTED',
    noticePeriod: '30 days',
  });
  expect(patched.body.data).toMatchObject({ evaluationStatus: 'REJECTED', noticePeriod: '30 days' });
  await sandbox.api('PATCH', `/job-candidates/${two.id}`, { evaluationStatus: 'REJECTED' });
  expect(await eventsOf(sandbox, 'candidate.rejected')).toEqual([
    {
      jobId: job.id,
      jobCandidateIds: [one.id],
      candidateIds: [one.candidateId],
      jobCandidateId: one.id,
      candidateId: one.candidateId,
      reason: 'Withdrew',
    },
    {
      jobId: job.id,
      jobCandidateIds: [two.id],
      candidateIds: [two.candidateId],
      jobCandidateId: two.id,
      candidateId: two.candidateId,
      reason: null,
    },
  ]);
  const rest = (await sandbox.api('GET', `/job-candidates/job/${job.id}/candidates?excludeRejected=true`)).body
    .pagination.total;
  expect(rest).toBe(10);
});

test('only an ACTIVE job takes applications, each person once, and the person stands in APPLIED', async () => {
  await using people = await wrap();
  const { sandbox, job } = people;
  const candidate = { email: 'grace@example.com', firstName: 'Grace' };
  const applied = await sandbox.control.act('apply', { jobId: job.id, candidate, consent: false });
  expect(applied.stageType).toBe('APPLIED');
  expect(await eventsOf(sandbox, 'candidate.applied')).toMatchObject([
    { jobCandidateId: applied.jobCandidateId, jobId: job.id },
  ]);
  await expect(sandbox.control.act('apply', { jobId: job.id, candidate })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
  await sandbox.control.act('setJobStatus', { jobId: job.id, status: 'INACTIVE' });
  await expect(
    sandbox.control.act('apply', { jobId: job.id, candidate: { email: 'x@example.com' } }),
  ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('custom field values show on a job candidate only when they exist', async () => {
  await using people = await wrap();
  const { sandbox, listed } = people;
  const { id } = await sandbox.control.act('createCustomField', {
    entityType: 'candidate',
    fieldLabel: 'Start date',
    fieldType: 'date',
  });
  await sandbox.control.act('setCustomFieldValue', {
    fieldLabel: 'Start date',
    entityType: 'candidate',
    entityId: listed[0].candidateId,
    value: '2026-03-01',
  });
  const { data } = (
    await sandbox.api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: [listed[0].id, listed[1].id] })
  ).body;
  expect(data[0].customFields).toEqual({
    [id]: { label: 'Start date', value: '2026-03-01', parentSection: 'Personal Details' },
  });
  expect('customFields' in data[1]).toBe(false);
});

test.each([
  ['/job-candidates/stage', 400, 'INVALID_REQUEST'],
  ['/job-candidates/stage?stageType=LIMBO', 400, 'INVALID_REQUEST'],
  ['/job-candidates/stage?stageType=HIRED&perPage=101', 400, 'INVALID_PER_PAGE'],
  ['/job-candidates/stage/999/candidates', 404, 'NOT_FOUND'],
  ['/job-candidates/job/999/candidates', 404, 'NOT_FOUND'],
])('GET %s is %i %s', async (path, status, code) => {
  await using sandbox = await openSandbox();
  const answered = await sandbox.api('GET', path);
  expect([answered.status, answered.body.error.code]).toEqual([status, code]);
});

test('a bulk fetch of none, of 101, or of the wrong kind is 400', async () => {
  await using sandbox = await openSandbox();
  for (const jobCandidateIds of [[], Array.from({ length: 101 }, (_, n) => n + 1), undefined, [1.5], [null]]) {
    expect((await sandbox.api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds })).status).toBe(400);
  }
});

test('a move to an unknown stage is 404, without a stage 400, of an unknown person 404', async () => {
  await using people = await wrap();
  const { sandbox, listed, stage } = people;
  expect((await sandbox.api('PUT', `/job-candidates/${listed[0].id}/stage`, { stageId: 999 })).status).toBe(404);
  expect((await sandbox.api('PUT', `/job-candidates/${listed[0].id}/stage`, {})).status).toBe(400);
  expect((await sandbox.api('PUT', '/job-candidates/999/stage', { stageId: stage('HIRED') })).status).toBe(404);
});

async function wrap() {
  const people = await openWithPeople();
  return { ...people, [Symbol.asyncDispose]: () => people.sandbox[Symbol.asyncDispose]() };
}
