import { expect, test } from 'vitest';
import { isEventName } from '../../src/partner/contract/events.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { ada, begun, openWithAssessment } from './open-assessment.ts';
import { outcome } from './open-partner.ts';
import { eventually, type Json, openReceiver } from './open-sandbox.ts';

test('an interview tells its start, its end and its score, each once, with companyId as text', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openWithAssessment({ webhookUrl: receiver.url });
  await sandbox.partner.assessments.inviteBulk({
    params: sandbox.params,
    body: { candidates: [{ ...ada, externalRef: 'r-7' }] },
  });
  await sandbox.later();
  const taken = (await sandbox.control.act('takeInterview', {
    assessmentId: sandbox.assessmentId,
    emailAddress: 'ada@example.com',
    score: 80,
  })) as Json;
  await sandbox.later();
  const names = [
    'assessment.bulk_invite.completed',
    'interview.started',
    'interview.ended',
    'interview.scoring_completed',
  ];
  const received = await eventually(
    () => receiver.received,
    (seen) => seen.length === names.length,
  );
  expect(received.map(({ event }) => event).toSorted()).toEqual(names.toSorted());
  const bodyOf = (event: string) => received.find((one) => one.event === event)?.body;
  const person = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', jobCandidateId: null };
  const ids = { assessmentId: sandbox.assessmentId, submissionId: taken.submissionId };
  expect(bodyOf('interview.started')).toEqual({
    event: 'interview.started',
    timestamp: expect.stringMatching(/Z$/),
    companyId: String(sandbox.companyId),
    data: { ...ids, ...person, interviewStatus: 'IN_PROGRESS' },
  });
  expect(bodyOf('interview.ended')).toMatchObject({
    companyId: String(sandbox.companyId),
    data: { ...ids, interviewStatus: 'COMPLETED' },
  });
  expect(bodyOf('interview.scoring_completed').data).toMatchObject({
    ...ids,
    externalRef: 'r-7',
    score: 80,
    bucket: 'Strong Fit',
  });
  expect(bodyOf('assessment.bulk_invite.completed').companyId).toBe(sandbox.companyId);
});

test('only who submitted or timed out is listed, with scores, and externalRef null without one', async () => {
  await using sandbox = await openWithAssessment();
  const { assessmentId } = sandbox;
  for (let n = 1; n <= 12; n += 1) {
    const emailAddress = `p${n}@example.com`;
    await sandbox.invite({ ...ada, emailAddress });
    if (n <= 11)
      await sandbox.control.act('takeInterview', { assessmentId, emailAddress, scored: n !== 2, score: 100 - n });
    else await sandbox.control.act('startInterview', { assessmentId, emailAddress });
  }
  await sandbox.later();
  const page = (await sandbox.api('GET', `/assessment/${assessmentId}/candidates`)).body;
  expect([page.data.length, page.pagination]).toEqual([10, { page: 1, perPage: 10, total: 11 }]);
  expect(page.data.slice(0, 2)).toMatchObject([
    {
      interviewStatus: 'COMPLETED',
      externalRef: null,
      score: 99,
      bucketStatus: 'pass',
      email: 'p1@example.com',
      firstName: 'Ada',
    },
    { interviewStatus: 'COMPLETED', score: null, bucket: null },
  ]);
  expect(await sandbox.submitted()).toHaveLength(11);
  expect((await sandbox.partner.assessments.get({ params: sandbox.params })).data.submissionCount).toBe(12);
  for (const [query, code] of [
    ['perPage=7', 'INVALID_PER_PAGE'],
    ['pageNumber=0', 'INVALID_REQUEST'],
  ])
    expect(outcome(await sandbox.api('GET', `/assessment/${assessmentId}/candidates?${query}`))).toEqual([400, code]);
});

test('report and share link wait for the score, and are served as a PDF that expires and a public page', async () => {
  await using sandbox = await openWithAssessment();
  const submissionId = await begun(sandbox);
  const params = { ...sandbox.params, submissionId };
  const reportOf = (of: typeof params) => sandbox.partner.assessments.getReport({ params: of });
  const shareLinkOf = (of: typeof params) => sandbox.partner.assessments.getShareLink({ params: of });
  const notReady = async () => {
    for (const error of await Promise.all([reportOf(params), shareLinkOf(params)].map(errorOf)))
      expect(error).toMatchObject({ status: 409, code: 'REPORT_NOT_READY' });
  };
  await notReady();
  await sandbox.control.act('finishInterview', { submissionId, score: 61 });
  await notReady();
  await sandbox.later();
  const [first, second] = [
    (await sandbox.partner.assessments.getReport({ params })).data,
    (await sandbox.partner.assessments.getReport({ params })).data,
  ];
  expect(first.reportUrl).not.toBe(second.reportUrl);
  const report = await fetch(first.reportUrl);
  expect([report.status, report.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(await report.text()).toMatch(/^%PDF-1\.4[^]*Score: 61 of 100[^]*%%EOF\n$/);
  const { shareUrl } = (await sandbox.partner.assessments.getShareLink({ params })).data;
  await sandbox.later(16 * 60_000);
  expect((await fetch(first.reportUrl)).status).toBe(403);
  const page = await fetch(shareUrl ?? '');
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Score 61 of 100')]);
  expect((await fetch(`${shareUrl?.slice(0, -4)}0000`)).status).toBe(404);
  const elsewhere = (await sandbox.partner.readAll(contract.assessments.list)).items.at(-1)?.assessmentId ?? '';
  for (const wrong of [
    { assessmentId: elsewhere, submissionId },
    { ...params, submissionId: 'unknown' },
  ])
    for (const error of await Promise.all([reportOf(wrong), shareLinkOf(wrong)].map(errorOf)))
      expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('with resumes left nothing is due; the close after the last one ends and scores the interview', async () => {
  await using sandbox = await openWithAssessment({}, { maxResumeCount: 2 });
  const submissionId = await begun(sandbox);
  const events = async () => [
    (await sandbox.told('interview.ended')).length,
    (await sandbox.told('interview.scoring_completed')).length,
  ];
  const act = async (name: 'leaveInterview' | 'resumeInterview') => {
    const { interviewStatus } = (await sandbox.control.act(name, { submissionId })) as Json;
    await sandbox.later();
    return interviewStatus;
  };
  for (let resume = 1; resume <= 2; resume += 1) {
    expect([await act('leaveInterview'), await events(), await sandbox.submitted()]).toEqual(['PAUSED', [0, 0], []]);
    expect(await act('resumeInterview')).toBe('IN_PROGRESS');
  }
  expect([await act('leaveInterview'), await events()]).toEqual(['TIMED_OUT', [1, 1]]);
  expect(await sandbox.submitted()).toMatchObject([{ interviewStatus: 'TIMED_OUT', score: expect.any(Number) }]);
  await expect(act('resumeInterview')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('a candidate who resumes may finish, and is scored then', async () => {
  await using sandbox = await openWithAssessment({}, { maxResumeCount: 1 });
  const submissionId = await begun(sandbox);
  await sandbox.control.act('leaveInterview', { submissionId });
  await sandbox.control.act('resumeInterview', { submissionId });
  await sandbox.control.act('finishInterview', { submissionId });
  await sandbox.later();
  expect(await sandbox.told('interview.scoring_completed')).toMatchObject([
    { submissionId, interviewStatus: 'COMPLETED' },
  ]);
});

test('without resumes scoring runs as soon as the interview closes, and an invitation is good for one', async () => {
  await using sandbox = await openWithAssessment();
  const submissionId = await begun(sandbox);
  expect(await sandbox.control.act('leaveInterview', { submissionId })).toMatchObject({ interviewStatus: 'TIMED_OUT' });
  expect(await sandbox.told('interview.ended')).toHaveLength(1);
  await sandbox.later();
  expect(await sandbox.told('interview.scoring_completed')).toHaveLength(1);
  const who = { assessmentId: sandbox.assessmentId, emailAddress: ada.emailAddress };
  await expect(sandbox.control.act('startInterview', who)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(
    sandbox.control.act('takeInterview', { ...who, emailAddress: 'uninvited@example.com' }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an interview that breaks off emits an event the specification does not name, and may be resumed', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openWithAssessment({ webhookUrl: receiver.url }, { maxResumeCount: 1 });
  const submissionId = await begun(sandbox);
  expect(await sandbox.control.act('breakInterview', { submissionId })).toMatchObject({ interviewStatus: 'PAUSED' });
  const received = await eventually(
    () => receiver.received,
    (seen) => seen.length === 2,
  );
  const unnamed = received.filter(({ event }) => !isEventName(event));
  expect(unnamed.map(({ body }) => [body.companyId, body.data.submissionId])).toEqual([
    [String(sandbox.companyId), submissionId],
  ]);
  await sandbox.control.act('resumeInterview', { submissionId });
  await sandbox.control.act('breakInterview', { submissionId });
  expect(await sandbox.told('interview.ended')).toHaveLength(1);
});

test('an interview that is not scored stays so until somebody does it', async () => {
  await using sandbox = await openWithAssessment();
  const submissionId = await begun(sandbox);
  await sandbox.control.act('finishInterview', { submissionId, scored: false });
  await sandbox.later(3_600_000);
  expect(
    await errorOf(sandbox.partner.assessments.getReport({ params: { ...sandbox.params, submissionId } })),
  ).toMatchObject({ status: 409 });
  for (let twice = 0; twice < 2; twice += 1)
    expect(await sandbox.control.act('scoreInterview', { submissionId, score: 5 })).toMatchObject({
      score: 5,
      bucket: 'Not a Fit',
      bucketStatus: 'fail',
    });
  expect(await sandbox.told('interview.scoring_completed')).toHaveLength(1);
});
