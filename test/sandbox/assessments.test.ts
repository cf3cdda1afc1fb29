import { expect, test } from 'vitest';
import { defaultBuckets } from '../../src/partner/contract/assessment.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { openPartner, outcome } from './open-partner.ts';

const interview = {
  title: 'Ward interview',
  hiringForRole: 'Nurse',
  purposeOfInterview: 'Find out who works well on a ward',
};
const text = (length: number) => 'x'.repeat(length);
const bucket = (name: string) => ({ name, status: 'pass' as const });

test('an audio interview is created with every default, costs one credit and asks nothing yet', async () => {
  await using sandbox = await openPartner();
  const before = await sandbox.credits();
  const { status, body } = await sandbox.api('POST', '/assessment/audio-interviews', interview);
  expect([status, body.status, typeof body.message]).toEqual([201, 'success', 'string']);
  expect(body.data).toMatchObject({
    testName: 'Ward interview',
    companyId: sandbox.companyId,
    jobId: '',
    status: 'ACTIVE',
    assessmentType: 'AI_AUDIO_INTERVIEW',
    questionCount: 0,
    duration: 20,
    aiLanguage: 'english',
    skills: [],
    resumeAllowed: false,
    maxResumeCount: null,
    isEmailVerificationRequired: true,
    shouldEvaluateCEFR: false,
    submissionCount: 0,
    questions: [],
    createdAt: expect.any(Number),
    lastUpdatedOn: expect.any(Number),
    postedBy: { firstName: 'Olivia', clientId: String(sandbox.companyId) },
  });
  expect(body.data.buckets.map((one: { name: string; status: string }) => [one.name, one.status])).toEqual(
    defaultBuckets.map((name) => [name, name === 'Not a Fit' ? 'fail' : 'pass']),
  );
  expect(await sandbox.credits()).toBe(before - 1);
  const read = await sandbox.partner.assessments.get({ params: { assessmentId: body.data.assessmentId } });
  expect(read.data).toEqual({ ...body.data, companyId: String(sandbox.companyId) });
});

test('what is given is answered as given, jobId as text', async () => {
  await using sandbox = await openPartner({ jobs: 1 });
  const buckets = [
    { name: 'Yes', description: 'Invite', status: 'pass' as const },
    { name: 'No', status: 'fail' as const },
  ];
  const settings = {
    duration: 120,
    aiLanguage: 'tagalog' as const,
    skills: ['care'],
    resumeAllowed: true,
    maxResumeCount: 5,
  };
  const flags = { isEmailVerificationRequired: false, shouldEvaluateCEFR: true, status: 'INACTIVE' } as const;
  const { data } = await sandbox.partner.assessments.createAudioInterview({
    body: { ...interview, ...settings, ...flags, buckets, jobId: 50_001 },
  });
  expect(data).toMatchObject({ ...settings, ...flags, buckets, jobId: '50001', hiringForRole: 'Nurse' });
  const plain = await sandbox.partner.assessments.createAudioInterview({
    body: { ...interview, buckets: [], resumeAllowed: false, maxResumeCount: 3 },
  });
  expect([plain.data.buckets?.length, plain.data.maxResumeCount]).toEqual([4, null]);
});

test('every limit of section 8 holds on both sides, and a refused creation costs nothing', async () => {
  await using sandbox = await openPartner();
  const before = await sandbox.credits();
  const refused: Record<string, unknown>[] = [
    { title: ' ' },
    { title: text(1001) },
    { hiringForRole: '' },
    { hiringForRole: text(501) },
    { purposeOfInterview: text(9) },
    { purposeOfInterview: text(5001) },
    { duration: 0 },
    { duration: 121 },
    { duration: '20' },
    { aiLanguage: 'latin' },
    { status: 'DRAFT' },
    { skills: Array.from({ length: 21 }, (_, n) => `s${n}`) },
    { buckets: Array.from({ length: 6 }, (_, n) => bucket(`b${n}`)) },
    { buckets: [bucket('Same'), bucket('Same')] },
    { buckets: [{ name: 'Odd', status: 'perhaps' }] },
    { resumeAllowed: true },
    { resumeAllowed: true, maxResumeCount: 0 },
    { resumeAllowed: true, maxResumeCount: 6 },
    { title: undefined },
    { hiringForRole: undefined },
    { purposeOfInterview: undefined },
  ];
  for (const wrong of refused) {
    const answered = await sandbox.api('POST', '/assessment/audio-interviews', { ...interview, ...wrong });
    expect([wrong, ...outcome(answered)]).toEqual([wrong, 400, 'INVALID_REQUEST']);
  }
  expect(await sandbox.credits()).toBe(before);
  const accepted: Record<string, unknown>[] = [
    { title: text(1000), hiringForRole: text(500), purposeOfInterview: text(5000), duration: 120 },
    { title: 'x', hiringForRole: 'y', purposeOfInterview: text(10), duration: 1 },
    { skills: Array.from({ length: 20 }, (_, n) => `s${n}`), buckets: ['a', 'b', 'c', 'd', 'e'].map(bucket) },
  ];
  for (const right of accepted)
    expect((await sandbox.api('POST', '/assessment/audio-interviews', { ...interview, ...right })).status).toBe(201);
});

test("an unknown, a deleted and another company's job are 404, and nothing is created", async () => {
  await using sandbox = await openPartner({ jobs: 2 });
  await sandbox.control.act('setJobStatus', { jobId: 50_002, status: 'DELETED' });
  const foreign = await sandbox.control.act('createJob', {
    companyId: sandbox.otherCompanyId,
    job: { title: 'Theirs' },
  });
  const before = await sandbox.credits();
  for (const jobId of [999, 50_002, Number(foreign['id'])]) {
    for (const error of await Promise.all(
      [
        sandbox.partner.assessments.createAudioInterview({ body: { ...interview, jobId } }),
        sandbox.partner.assessments.autoGenerate({ body: { jobId } }),
      ].map(errorOf),
    ))
      expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
  expect(await sandbox.credits()).toBe(before);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).not.toHaveProperty('assessment');
});

test('the list is paged, newest first, without the questions', async () => {
  await using sandbox = await openPartner();
  for (let n = 1; n <= 11; n += 1)
    await sandbox.partner.assessments.createAudioInterview({ body: { ...interview, title: `No ${n}` } });
  const first = (await sandbox.api('GET', '/assessment')).body.data;
  expect(first.pagination).toEqual({ page: 1, limit: 10, total: 13, totalPages: 2 });
  expect(first.assessments.map((one: { testName: string }) => one.testName).slice(0, 2)).toEqual(['No 11', 'No 10']);
  expect('questions' in first.assessments[0]).toBe(false);
  const second = (await sandbox.api('GET', '/assessment?pageNumber=2&perPage=10')).body.data;
  expect(second.assessments).toHaveLength(3);
  expect((await sandbox.api('GET', '/assessment?pageNumber=9')).body.data.assessments).toEqual([]);
  expect((await sandbox.partner.readAll(contract.assessments.list)).items).toHaveLength(13);
  expect((await sandbox.other.readAll(contract.assessments.list)).items).toHaveLength(2);
  for (const [query, code] of [
    ['perPage=50', 'INVALID_PER_PAGE'],
    ['pageNumber=0', 'INVALID_REQUEST'],
    ['pageNumber=x', 'INVALID_REQUEST'],
  ])
    expect(outcome(await sandbox.api('GET', `/assessment?${query}`))).toEqual([400, code]);
});

test('an update changes what is named, and nothing else may be named alone', async () => {
  await using sandbox = await openPartner();
  const { data } = await sandbox.partner.assessments.createAudioInterview({ body: interview });
  const params = { assessmentId: data.assessmentId };
  await sandbox.later();
  const changes = {
    duration: 45,
    aiLanguage: 'german' as const,
    skills: ['calm'],
    purposeOfInterview: 'Find out who stays calm',
  };
  const updated = await sandbox.partner.assessments.update({ params, body: { title: 'Second try', ...changes } });
  expect(updated.data).toMatchObject({ testName: 'Second try', ...changes, hiringForRole: 'Nurse' });
  expect(Number(updated.data.lastUpdatedOn)).toBeGreaterThan(Number(updated.data.createdAt));
  for (const body of [{}, { status: 'INACTIVE' }, { title: text(1001) }, { duration: 121 }, { aiLanguage: 'latin' }])
    expect(outcome(await sandbox.api('PUT', `/assessment/${data.assessmentId}`, body))).toEqual([
      400,
      'INVALID_REQUEST',
    ]);
});

test('an update takes the names of section 4.6 for language and purpose as well', async () => {
  await using sandbox = await openPartner();
  const { data } = await sandbox.partner.assessments.createAudioInterview({ body: interview });
  const path = `/assessment/${data.assessmentId}`;
  expect((await sandbox.api('PUT', path, { language: 'german' })).body.data.aiLanguage).toBe('german');
  const purpose = 'Find out who stays calm';
  expect((await sandbox.api('PUT', path, { purpose })).body.data.purposeOfInterview).toBe(purpose);
  expect(outcome(await sandbox.api('PUT', path, { language: 'latin' }))).toEqual([400, 'INVALID_REQUEST']);
});

test("another company's assessment is 404 to reads and 403 to changes, an unknown one 404 to both", async () => {
  await using sandbox = await openPartner();
  const [theirs] = (await sandbox.other.readAll(contract.assessments.list)).items;
  const question = (await sandbox.other.assessments.get({ params: { assessmentId: theirs?.assessmentId ?? '' } })).data
    .questions?.[0];
  const person = { firstName: 'A', lastName: 'B', emailAddress: 'a@example.com' };
  const at = (id: string, questionId: string): [method: string, path: string, body?: unknown][] => [
    ['PUT', `/assessment/${id}`, { title: 'Mine now' }],
    ['POST', `/assessment/${id}/questions`, { question: 'Why?' }],
    ['PUT', `/assessment/${id}/questions/${questionId}`, { question: 'Why?' }],
    ['DELETE', `/assessment/${id}/questions/${questionId}`],
    ['POST', `/assessment/${id}/generate-questions`, { skills: ['care'] }],
    ['POST', `/assessment/${id}/invite`, person],
    ['POST', `/assessment/${id}/invite/bulk`, { candidates: [person] }],
  ];
  for (const [method, path, body] of at(theirs?.assessmentId ?? '', question?.id ?? ''))
    expect([path, ...outcome(await sandbox.api(method, path, body))]).toEqual([path, 403, 'ACCESS_DENIED']);
  for (const [method, path, body] of at('unknown', 'unknown'))
    expect([path, ...outcome(await sandbox.api(method, path, body))]).toEqual([path, 404, 'NOT_FOUND']);
  for (const id of [theirs?.assessmentId ?? '', 'unknown'])
    for (const rest of ['', '/candidates', '/invite/bulk/x', '/submissions/x/report', '/submissions/x/share-link'])
      expect(outcome(await sandbox.api('GET', `/assessment/${id}${rest}`))).toEqual([404, 'NOT_FOUND']);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toBeUndefined();
});

test('the dashboard makes a video interview with questions, and deactivates it', async () => {
  await using sandbox = await openPartner();
  const made = await sandbox.control.act('createAssessment', {
    title: 'On camera',
    questions: ['Who?'],
    maxResumeCount: 1,
  });
  const params = { assessmentId: String(made['assessmentId']) };
  expect((await sandbox.partner.assessments.get({ params })).data).toMatchObject({
    assessmentType: 'AI_VIDEO_INTERVIEW',
    questionCount: 1,
    resumeAllowed: true,
    maxResumeCount: 1,
  });
  await sandbox.control.act('setAssessmentStatus', { ...params, status: 'INACTIVE' });
  expect((await sandbox.partner.assessments.get({ params })).data.status).toBe('INACTIVE');
  expect(await sandbox.credits()).toBe(1000);
});
