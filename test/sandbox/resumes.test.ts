import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { eventually, type Json, openReceiver, openSandbox } from './open-sandbox.ts';

const otherKey = `sk_test_${'r'.repeat(22)}`;
const resume = (name: string) => `https://files.example.com/${name}`;

async function open(options: SandboxOptions = {}) {
  const sandbox = await openSandbox({ jobs: 1, clock: 'stepped', otherKey, ...options });
  const [job] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const events = async (kind: string) =>
    (await sandbox.control.ledger({ kind: 'event' }))
      .filter((event) => event.name.startsWith(kind))
      .map((event) => [event.name.replace('resume.bulk_upload_parse.', ''), event.detail]);
  const wait = () => sandbox.control.act('advanceClock', { ms: 10_000 });
  const batch = async (id: string, query = '') =>
    (await sandbox.api('GET', `/candidates/batch/${id}${query}`)).body.data;
  const upload = async (resumeURLs: string[]) =>
    (await sandbox.partner.candidates.uploadResumes({ body: { resumeURLs } })).data.batchId;
  return { ...sandbox, jobId: job.id as number, events, wait, batch, upload };
}

test('a batch is answered at once, parsed in the background, and told when it starts and ends', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await open({ webhookUrl: receiver.url });
  const id = await sandbox.upload([resume('CV_ada-lovelace.pdf'), resume('grace%20hopper.docx'), resume('x7')]);
  expect(await sandbox.batch(id)).toEqual({
    batchId: id,
    status: 'processing',
    candidates: [],
    page: 1,
    perPage: 10,
    hasNextPage: false,
  });
  expect(await sandbox.events('resume')).toEqual([]);
  await sandbox.wait();
  expect(await sandbox.events('resume')).toEqual([
    ['started', { batchId: id, fileCount: 3, jobId: null }],
    [
      'completed',
      {
        batchId: id,
        status: 'completed',
        fileCount: 3,
        successCount: 3,
        failedCount: 0,
        jobId: null,
        error: null,
        errorCode: null,
      },
    ],
  ]);
  const { status, candidates } = await sandbox.batch(id);
  expect(status).toBe('completed');
  expect(candidates).toMatchObject([
    {
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada.lovelace@example.com',
      resume: resume('CV_ada-lovelace.pdf'),
    },
    { firstName: 'Grace', lastName: 'Hopper', email: 'grace.hopper@example.com' },
    { email: expect.stringContaining('@') },
  ]);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toMatchObject({ candidate: 3, credit: 3 });
  await eventually(
    () => receiver.received.map((one) => one.event),
    (seen) => seen.length === 2 && seen.every((name) => name.startsWith('resume.bulk_upload_parse.')),
  );
});

test('pages of a batch begin at 1 and say whether there is another', async () => {
  await using sandbox = await open();
  const id = await sandbox.upload(Array.from({ length: 300 }, (_, n) => resume(`${n}.pdf`)));
  await sandbox.wait();
  const pages = await Promise.all([1, 2, 3].map((page) => sandbox.batch(id, `?perPage=100&page=${page}`)));
  expect(pages.map((page) => [page.page, page.candidates.length, page.hasNextPage])).toEqual([
    [1, 100, true],
    [2, 100, true],
    [3, 100, false],
  ]);
  const all = await sandbox.partner.readAll(contract.candidates.getBatch, { params: { batchId: id } });
  expect(new Set(all.items.map((one) => one.id)).size).toBe(300);
  for (const [query, code] of [
    ['perPage=50', 'INVALID_PER_PAGE'],
    ['page=0', 'INVALID_REQUEST'],
    ['page=x', 'INVALID_REQUEST'],
  ])
    expect((await sandbox.api('GET', `/candidates/batch/${id}?${query}`)).body.error.code).toBe(code);
});

test("an unknown batch and another company's are 404", async () => {
  await using sandbox = await open();
  const id = await sandbox.upload([resume('ada-lovelace.pdf')]);
  for (const [path, key] of [
    [`/candidates/batch/${id}`, otherKey],
    ['/candidates/batch/none', sandbox.key],
  ] as const) {
    const { status, body } = await sandbox.api('GET', path, undefined, { key });
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('a repeated file and somebody known by e-mail make no second candidate', async () => {
  await using sandbox = await open();
  const known = { email: 'Ada.Lovelace@example.com', firstName: 'Augusta', lastName: 'King' };
  await sandbox.api('POST', '/candidates', known);
  const id = await sandbox.upload([resume('ada-lovelace.pdf'), resume('alan-turing.pdf'), resume('alan-turing.pdf')]);
  await sandbox.wait();
  const { candidates } = await sandbox.batch(id);
  expect(candidates.map((one: Json) => one.firstName)).toEqual(['Augusta', 'Alan']);
  expect((await sandbox.events('resume'))[1]?.[1]).toMatchObject({ fileCount: 3, successCount: 3, failedCount: 0 });
  expect((await sandbox.api('GET', '/candidates/list')).body.pagination.total).toBe(2);
});

test('a file that is no document fails alone and costs nothing', async () => {
  await using sandbox = await open();
  const id = await sandbox.upload([resume('holiday.jpg'), resume('ada-lovelace.pdf'), resume('setup.exe')]);
  await sandbox.wait();
  expect((await sandbox.batch(id)).candidates).toHaveLength(1);
  expect((await sandbox.events('resume'))[1]?.[1]).toMatchObject({
    status: 'completed',
    successCount: 1,
    failedCount: 2,
    error: null,
    errorCode: null,
  });
  expect((await sandbox.control.act('showCompany')).credits).toBe(999);
});

test('credits are checked in the batch: what they pay for is parsed, the rest fails and is told', async () => {
  await using sandbox = await open();
  await sandbox.control.act('setCredits', { credits: 2 });
  const names = ['ada-lovelace', 'alan-turing', 'grace-hopper'].map((name) => resume(`${name}.pdf`));
  const some = await sandbox.upload(names);
  await sandbox.wait();
  const none = await sandbox.upload(names);
  await sandbox.wait();
  expect(
    (await sandbox.events('resume')).filter(([name]) => name === 'completed').map(([, data]) => data),
  ).toMatchObject([
    { batchId: some, status: 'completed', successCount: 2, failedCount: 1, errorCode: 'INSUFFICIENT_CREDITS' },
    { batchId: none, status: 'failed', successCount: 0, failedCount: 3, errorCode: 'INSUFFICIENT_CREDITS' },
  ]);
  expect((await sandbox.batch(none)).status).toBe('failed');
  expect((await sandbox.control.act('showCompany')).credits).toBe(0);
});

test('a batch for a job puts its people into SOURCED, tells once, and has them scored', async () => {
  await using sandbox = await open();
  const { jobId } = sandbox;
  const resumeURLs = [resume('ada-lovelace.pdf'), resume('alan-turing.pdf')];
  const first = await sandbox.partner.jobCandidates.uploadResumes({ body: { jobId, resumeURLs } });
  await sandbox.wait();
  await sandbox.api('POST', '/job-candidates/bulk/resume', { jobId, resumeURLs });
  await sandbox.wait();
  const { data } = (await sandbox.api('GET', `/job-candidates/stage?stageType=SOURCED&jobId=${jobId}`)).body;
  expect(data.map((one: Json) => one.candidate_details.firstName)).toEqual(['Ada', 'Alan']);
  expect(data.map((one: Json) => typeof one.jobCandidateDetails.profileMatchScore)).toEqual(['number', 'number']);
  expect((await sandbox.events('resume'))[0]).toEqual([
    'started',
    { batchId: first.data.batchId, fileCount: 2, jobId },
  ]);
  const told = await sandbox.events('candidate.added_to_job');
  expect(told).toMatchObject([[expect.anything(), { jobId, count: 2 }]]);
});

test('a batch whose job or subscription ends before it begins has failed', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await open({ webhookUrl: receiver.url });
  const { jobId } = sandbox;
  const body = { jobId, resumeURLs: [resume('ada-lovelace.pdf')] };
  const { batchId } = (await sandbox.api('POST', '/job-candidates/bulk/resume', body)).body.data;
  const other = await sandbox.upload(body.resumeURLs);
  await sandbox.control.act('setJobStatus', { jobId, status: 'DELETED' });
  await sandbox.control.act('deactivateAccount');
  await sandbox.wait();
  await sandbox.control.act('reactivateAccount');
  expect(await sandbox.events('resume')).toMatchObject([
    ['failed', { batchId, error: expect.any(String) }],
    ['failed', { batchId: other, error: expect.any(String) }],
  ]);
  expect(await sandbox.batch(batchId)).toMatchObject({ status: 'failed', candidates: [] });
  await eventually(
    () => receiver.received.filter((one) => one.event === 'resume.bulk_upload_parse.failed'),
    (seen) => seen.length === 2,
  );
  for (const id of [jobId, 999])
    expect((await sandbox.api('POST', '/job-candidates/bulk/resume', { ...body, jobId: id })).body.error.code).toBe(
      'NOT_FOUND',
    );
});

test('URLs missing, no array, empty, over 5,000 or with an invalid one are 400; 5,000 are accepted', async () => {
  await using sandbox = await open();
  const many = (count: number) => Array.from({ length: count }, (_, n) => resume(`${n}.pdf`));
  const bad = [
    undefined,
    'https://x.example',
    [],
    many(5001),
    [resume('a.pdf'), ''],
    ['ftp://x.example/a'],
    [1],
    ['cv.pdf'],
  ];
  for (const [path, more] of [
    ['/candidates/bulk/resume', {}],
    ['/job-candidates/bulk/resume', { jobId: sandbox.jobId }],
  ] as const) {
    for (const resumeURLs of bad) {
      const { status, body } = await sandbox.api('POST', path, { ...more, resumeURLs });
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    }
  }
  const noJob = await sandbox.api('POST', '/job-candidates/bulk/resume', { resumeURLs: many(1) });
  expect([noJob.status, noJob.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(await sandbox.batch(await sandbox.upload(many(5000)))).toMatchObject({ status: 'processing' });
});
