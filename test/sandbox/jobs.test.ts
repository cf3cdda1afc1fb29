import { expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';

const job = { title: 'Night Auditor', city: 'Kraków', state: '', country: 'Poland' };

test('a created job is DRAFT unless ACTIVE, on the oldest pipeline, with every default', async () => {
  await using sandbox = await openSandbox();
  const { status, body } = await sandbox.api('POST', '/jobs', job);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...job,
    status: 'DRAFT',
    workMode: 'ONSITE',
    salaryRangeFrom: null,
    salaryCurrency: null,
    runningRevenue: 0,
    rejectedCandidateCount: 0,
    customFields: {},
  });
  expect(body.description.length).toBeGreaterThan(0);
  expect(body.createdAt).toBeTypeOf('number');
  expect((await sandbox.api('POST', '/jobs', { ...job, status: 'ACTIVE' })).body.status).toBe('ACTIVE');
  expect((await sandbox.api('GET', '/pipelines')).body.data[0].id).toBe(body.pipelineId);
});

test('a job made through the API is no job.created, one made in the dashboard is', async () => {
  await using sandbox = await openSandbox();
  await sandbox.api('POST', '/jobs', job);
  await sandbox.control.act('createJob', { job: { title: 'Day Auditor' } });
  const events = await sandbox.control.ledger({ kind: 'event', name: 'job.created' });
  expect(events.map((event) => event.detail['title'])).toEqual(['Day Auditor']);
});

test.each([
  ['a title of two characters', { ...job, title: 'ab' }],
  ['a title of 121 characters', { ...job, title: 'x'.repeat(121) }],
  ['no city', { ...job, city: undefined }],
  ['an empty country', { ...job, country: '' }],
  ['a description of 10,001 characters', { ...job, description: 'x'.repeat(10_001) }],
  ['status INACTIVE', { ...job, status: 'INACTIVE' }],
  [
    '16 screening questions',
    { ...job, screeningQuestion: Array.from({ length: 16 }, () => ({ type: 'text', question: 'Why?' })) },
  ],
  ['two of the three salary fields', { ...job, salaryRangeFrom: 1, salaryRangeTo: 2 }],
  ['a salary range upside down', { ...job, salaryRangeFrom: 5, salaryRangeTo: 5, salaryCurrency: 'USD' }],
  ['a contract type outside the list', { ...job, contractType: 'Forever' }],
])('a job with %s is 400 INVALID_REQUEST and not created', async (_name, body) => {
  await using sandbox = await openSandbox();
  const answered = await sandbox.api('POST', '/jobs', body);
  expect([answered.status, answered.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  expect((await sandbox.api('GET', '/jobs')).body.totalJobs).toBe(0);
});

test('an unknown custom field on create is 404 and undoes the job', async () => {
  await using sandbox = await openSandbox();
  const answered = await sandbox.api('POST', '/jobs', { ...job, customFields: { nowhere: 'x' } });
  expect([answered.status, answered.body.error.code]).toEqual([404, 'CUSTOM_FIELD_NOT_FOUND']);
  expect((await sandbox.api('GET', '/jobs')).body.totalJobs).toBe(0);
});

test.each([
  ['perPage=15', 'INVALID_PER_PAGE'],
  ['perPage=abc', 'INVALID_PER_PAGE'],
  ['status=DELETED', 'INVALID_STATUS'],
  ['status=active', 'INVALID_STATUS'],
  ['publishType=SECRET', 'INVALID_PUBLISH_TYPE'],
  ['workMode=MOON', 'INVALID_WORK_MODE'],
  ['pageNumber=0', 'INVALID_REQUEST'],
])('the list with %s is 400 %s', async (query, code) => {
  await using sandbox = await openSandbox();
  const { status, body } = await sandbox.api('GET', `/jobs?${query}`);
  expect([status, body.error.code, body.error.type]).toEqual([400, code, 'validation_error']);
});

test('the list is paged, newest first, filtered, and leaves deleted jobs out', async () => {
  await using sandbox = await openSandbox({ jobs: 25 });
  const first = (await sandbox.api('GET', '/jobs')).body;
  const third = (await sandbox.api('GET', '/jobs?pageNumber=3&perPage=10')).body;
  expect([first.jobs.length, third.jobs.length, first.totalJobs]).toEqual([10, 5, 25]);
  const ids = first.jobs.map((one: { id: number }) => one.id);
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
  expect((await sandbox.api('GET', '/jobs?pageNumber=9')).body.jobs).toEqual([]);
  const nurses = (await sandbox.api('GET', '/jobs?jobTitle=NURSE&perPage=100')).body;
  expect(nurses.totalJobs).toBeGreaterThan(1);
  expect(nurses.jobs.every((one: { title: string }) => one.title.includes('Nurse'))).toBe(true);
  await sandbox.control.act('setJobStatus', { jobId: ids[0], status: 'DELETED' });
  expect((await sandbox.api('GET', '/jobs')).body.totalJobs).toBe(24);
});

test('the list counts candidates by stage', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 9, hired: 2 });
  const [listed] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const counts = Object.fromEntries(
    listed.pipelineStage.map((stage: { type: string; totalCandidate: number }) => [stage.type, stage.totalCandidate]),
  );
  expect(counts['HIRED']).toBe(2);
  expect(Object.values(counts).reduce<number>((sum, n) => sum + Number(n), 0)).toBe(11);
  const [one] = (await sandbox.api('GET', `/job-candidates/job/${listed.id}/candidates`)).body.data;
  await sandbox.control.act('reject', { jobCandidateIds: [one.id] });
  expect((await sandbox.api('GET', '/jobs')).body.jobs[0].rejectedCandidateCount).toBe(1);
});

test('every job custom field is shown on a job, an empty text where none is set', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const fields: [string, string, unknown, unknown][] = [
    ['Cost centre', 'text', 'R&D', 'R&D'],
    ['Headcount', 'number', '12.50', 12.5],
    ['Opens', 'date', '2026-02-01', '2026-02-01'],
    ['Sites', 'multi-select', ['Rome', 'Oslo'], '["Rome","Oslo"]'],
    ['Urgent', 'checkbox', false, false],
  ];
  const shown: Record<string, unknown> = {};
  const values: Record<string, unknown> = {};
  for (const [fieldLabel, fieldType, sent, stored] of fields) {
    const options = fieldType === 'multi-select' ? { options: ['Rome', 'Oslo'] } : {};
    const { id } = (
      await sandbox.api('POST', '/custom-fields', { entityType: 'job', fieldLabel, fieldType, ...options })
    ).body.data;
    values[id] = sent;
    shown[id] = { label: fieldLabel, value: stored, parentSection: 'Job Overview' };
  }
  const created = (await sandbox.api('POST', '/jobs', { ...job, customFields: values })).body;
  expect(created.customFields).toEqual(shown);
  const [, bare] = (await sandbox.api('GET', '/jobs')).body.jobs;
  expect(Object.values(bare.customFields).map((field) => (field as { value: unknown }).value)).toEqual([
    '',
    '',
    '',
    '',
    '',
  ]);
});
