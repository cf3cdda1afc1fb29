import { expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';

const ada = { email: 'Ada.Lovelace@Example.com', firstName: 'Ada', lastName: 'Lovelace' };

test('the same e-mail in another case is the same candidate, and what else was sent is ignored', async () => {
  await using sandbox = await openSandbox();
  const first = await sandbox.api('POST', '/candidates', { ...ada, skills: 'SQL, Go ,', majors: ['Maths'] });
  expect([first.status, first.body.data.isExisting, first.body.data.skills]).toEqual([200, false, ['SQL', 'Go']]);
  expect(first.body.data.email).toBe('ada.lovelace@example.com');
  const again = await sandbox.api('POST', '/candidates', { email: 'ADA.LOVELACE@example.com', firstName: 'Somebody' });
  expect(again.body.data).toMatchObject({
    id: first.body.data.id,
    isExisting: true,
    firstName: 'Ada',
    isAlreadyInJob: false,
    jobCandidateId: null,
  });
});

test('adding to a job links once, in SOURCED, tells once, and scores in the background', async () => {
  await using sandbox = await openSandbox({ jobs: 1, clock: 'stepped' });
  const [{ id: jobId }] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const added = (await sandbox.api('POST', '/candidates', { ...ada, jobId })).body.data;
  expect([added.isAlreadyInJob, typeof added.jobCandidateId]).toEqual([false, 'number']);
  const again = (await sandbox.api('POST', '/candidates', { ...ada, jobId })).body.data;
  expect([again.isExisting, again.isAlreadyInJob, again.jobCandidateId]).toEqual([true, true, added.jobCandidateId]);
  const events = await sandbox.control.ledger({ kind: 'event', name: 'candidate.added_to_job' });
  expect(events.map((event) => event.detail)).toEqual([
    { jobId, stageId: expect.any(Number), candidateIds: [added.id], jobCandidateIds: [added.jobCandidateId], count: 1 },
  ]);
  const [sourced] = (await sandbox.api('GET', `/job-candidates/stage?stageType=sourced&jobId=${jobId}`)).body.data;
  expect(sourced.jobCandidateDetails).toMatchObject({
    id: added.jobCandidateId,
    profileMatchScore: null,
    aiSummary: null,
  });
  await sandbox.control.act('advanceClock', { ms: 1000 });
  const [scored] = (
    await sandbox.api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: [added.jobCandidateId] })
  ).body.data;
  expect(scored.profileMatchScore).toBeGreaterThan(0);
  expect((await sandbox.control.counts()).event?.['job.candidate.score.completed']).toBe(1);
});

test('without credits parsing and linking are 402, and scoring that finds none left fails with an event', async () => {
  await using sandbox = await openSandbox({ jobs: 1, clock: 'stepped' });
  const [{ id: jobId }] = (await sandbox.api('GET', '/jobs')).body.jobs;
  await sandbox.api('POST', '/candidates', { ...ada, jobId });
  await sandbox.control.act('setCredits', { credits: 0 });
  await sandbox.control.act('advanceClock', { ms: 1000 });
  expect((await sandbox.control.counts()).event?.['job.candidate.score.failed']).toBe(1);
  for (const asked of [{ resume: 'https://files.example.com/cv.pdf' }, { jobId }]) {
    const refused = await sandbox.api('POST', '/candidates', { email: 'b@example.com', ...asked });
    expect([refused.status, refused.body.error.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
  }
  expect((await sandbox.api('GET', '/candidates/list?candidateEmail=b@example.com')).body.data).toEqual([]);
  expect((await sandbox.api('POST', '/candidates', { ...ada, jobId })).body.data.isAlreadyInJob).toBe(true);
});

test('an unknown or deleted job is 404 and no candidate is created', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const [{ id: jobId }] = (await sandbox.api('GET', '/jobs')).body.jobs;
  await sandbox.control.act('setJobStatus', { jobId, status: 'DELETED' });
  for (const id of [999, jobId])
    expect((await sandbox.api('POST', '/candidates', { ...ada, jobId: id })).status).toBe(404);
  expect((await sandbox.api('GET', '/candidates/list')).body.pagination.total).toBe(0);
});

test('with jobId and an unparsed resume, city, country, educations and workExperiences are asked for', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const [{ id: jobId }] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const body = { ...ada, jobId, shouldParseResume: false };
  expect((await sandbox.api('POST', '/candidates', body)).status).toBe(400);
  const full = {
    ...body,
    city: 'London',
    country: 'UK',
    educations: [],
    workExperiences: [{ title: 'Analyst', company: 'Engine', duration: '2 years' }],
  };
  const added = await sandbox.api('POST', '/candidates', full);
  expect(added.status).toBe(200);
  expect(added.body.data.workExperiences[0].id).toBeTypeOf('number');
});

test('the list begins at page 0, keeps its order, and knows its total', async () => {
  await using sandbox = await openSandbox({ candidates: 45 });
  const pages = await Promise.all(
    [0, 1, 2].map((page) => sandbox.api('GET', `/candidates/list?pageNumber=${page}&perPage=20`)),
  );
  expect(pages.map((page) => page.body.data.length)).toEqual([20, 20, 5]);
  const ids = pages.flatMap((page) => page.body.data.map((one: { id: number }) => one.id));
  expect([new Set(ids).size, ids]).toEqual([45, ids.toSorted((a, b) => a - b)]);
  expect(pages[0]?.body.pagination).toEqual({ page: 0, perPage: 20, total: 45 });
  expect((await sandbox.api('GET', '/candidates/list?pageNumber=3&perPage=20')).body.data).toEqual([]);
  await sandbox.control.act('deleteCandidate', { candidateIds: [ids[0]] });
  expect((await sandbox.api('GET', '/candidates/list')).body.pagination.total).toBe(44);
  await sandbox.api('POST', '/candidates', ada);
  expect((await sandbox.api('GET', '/candidates/list?pageNumber=2&perPage=20')).body.data.at(-1).email).toBe(
    'ada.lovelace@example.com',
  );
});

test.each([
  ['perPage=50', 'INVALID_PER_PAGE'],
  ['pageNumber=-1', 'INVALID_REQUEST'],
  ['createdAtMin=2026-02-01&createdAtMax=2026-01-01', 'INVALID_REQUEST'],
  ['createdAtMin=yesterday', 'INVALID_REQUEST'],
  ['includeJobApplicationDetails=maybe', 'INVALID_REQUEST'],
])('the list with %s is 400 %s', async (query, code) => {
  await using sandbox = await openSandbox();
  const { status, body } = await sandbox.api('GET', `/candidates/list?${query}`);
  expect([status, body.error.code]).toEqual([400, code]);
});

test('each filter of the list finds who it says', async () => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 30 });
  const { control, api } = sandbox;
  const [job] = (await api('GET', '/jobs')).body.jobs;
  const applied = await control.act('apply', {
    jobId: job.id,
    candidate: {
      ...ada,
      phone: '+447700900123',
      skills: ['Analysis'],
      currentJobTitle: 'Countess',
      currentCompany: 'Engine Ltd',
    },
  });
  const found = async (query: string) =>
    (await api('GET', `/candidates/list?perPage=100&${query}`)).body.data.map((one: { id: number }) => one.id);
  for (const query of [
    'candidateEmail=ADA.lovelace@example.com',
    `phone=${encodeURIComponent('+447700900123')}`,
    'skills=analysis,nothing',
    'currentJobTitle=countess',
    'currentCompany=engine',
    'searchTerm=ada%20love',
    // Seeded applications are a month old.
    `appliedAtMin=${new Date(Date.now() - 86_400_000).toISOString()}`,
  ]) {
    expect([query, await found(query)]).toEqual([query, [applied.candidateId]]);
  }
  expect(await found(`stageIds=${applied.stageId}&jobIds=${job.id}`)).toContain(applied.candidateId);
  expect((await found(`jobIds=${job.id}`)).length).toBe(16);
  expect(await found('groupIds=1')).toEqual([]);
  expect(await found('appliedAtMax=2020-01-01')).toEqual([]);
});

test('job applications are given only when asked for', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  const [plain] = (await sandbox.api('GET', '/candidates/list')).body.data;
  const [full] = (await sandbox.api('GET', '/candidates/list?includeJobApplicationDetails=true')).body.data;
  expect(plain.jobCandidateDetails).toBeUndefined();
  expect(full.jobCandidateDetails).toMatchObject([{ candidateId: plain.id }]);
  const read = (await sandbox.api('GET', `/candidates/${plain.id}`)).body.data;
  expect(read.jobs).toMatchObject([{ jobCandidateId: full.jobCandidateDetails[0].id, stageType: expect.any(String) }]);
});

test('an update changes what it names, refuses a resume, nothing, and another’s e-mail', async () => {
  await using sandbox = await openSandbox({ candidates: 2 });
  const [one, two] = (await sandbox.api('GET', '/candidates/list')).body.data;
  const updated = await sandbox.api('PATCH', `/candidates/${one.id}`, { city: 'Oslo', email: 'NEW@example.com' });
  expect(updated.body.data).toMatchObject({
    ...one,
    city: 'Oslo',
    email: 'new@example.com',
    updatedAt: expect.any(String),
  });
  const [event] = await sandbox.control.ledger({ kind: 'event', name: 'candidate.updated' });
  expect(event?.detail).toEqual({ candidateId: one.id, updatedFields: ['email', 'city'], scope: 'profile' });
  const clash = await sandbox.api('PATCH', `/candidates/${one.id}`, { email: two.email.toUpperCase() });
  expect([clash.status, clash.body.error.code]).toEqual([409, 'EMAIL_CONFLICT']);
  for (const body of [{}, { resume: 'https://files.example.com/cv.pdf' }, { nonsense: 1 }]) {
    expect((await sandbox.api('PATCH', `/candidates/${one.id}`, body)).status).toBe(400);
  }
  expect((await sandbox.api('PATCH', '/candidates/999', {})).status).toBe(404);
});

test('a bulk fetch keeps the order, leaves unknown ids out, and takes 1 to 100', async () => {
  await using sandbox = await openSandbox({ candidates: 3 });
  const [a, b, c] = (await sandbox.api('GET', '/candidates/list')).body.data.map((one: { id: number }) => one.id);
  const { body } = await sandbox.api('POST', '/candidates/bulk-fetch', {
    candidateIds: [String(c), 999, a, 'abc', a, b],
  });
  expect(body.data.map((one: { id: number }) => one.id)).toEqual([c, a, b]);
  for (const candidateIds of [[], Array.from({ length: 101 }, (_, n) => n + 1), undefined, 'x']) {
    expect((await sandbox.api('POST', '/candidates/bulk-fetch', { candidateIds })).status).toBe(400);
  }
});
