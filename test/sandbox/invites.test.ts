import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { ada, openWithAssessment } from './open-assessment.ts';
import { outcome } from './open-partner.ts';
import type { Json } from './open-sandbox.ts';

test('a person is invited once, by name or as a job candidate, free of charge, and no link is told', async () => {
  await using sandbox = await openWithAssessment({ jobs: 1, candidates: 4 });
  const listed = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data;
  const known = listed.at(-1);
  const before = await sandbox.credits();
  const byName = await sandbox.api('POST', `/assessment/${sandbox.assessmentId}/invite`, ada);
  expect([byName.status, byName.body.data]).toMatchObject([200, { ...ada, jobCandidateId: null }]);
  expect(JSON.stringify(byName.body)).not.toContain('http');
  const byId = await sandbox.invite({ jobCandidateId: known.id, ...ada });
  expect(byId.data).toMatchObject({ jobCandidateId: String(known.id), emailAddress: known.candidate_details.email });
  for (const body of [
    ada,
    { ...ada, emailAddress: 'ADA@example.com' },
    { jobCandidateId: known.id },
    { ...ada, emailAddress: known.candidate_details.email },
  ])
    expect(await errorOf(sandbox.invite(body))).toMatchObject({ status: 400, code: 'DUPLICATE_INVITE' });
  expect(await sandbox.credits()).toBe(before);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toMatchObject({ invite: 2 });
});

test('an incomplete person, an unknown one and an inactive assessment are refused', async () => {
  await using sandbox = await openWithAssessment();
  const { emailAddress, firstName, lastName } = ada;
  const path = `/assessment/${sandbox.assessmentId}/invite`;
  for (const body of [
    {},
    { firstName, lastName },
    { firstName, emailAddress },
    { lastName, emailAddress },
    { ...ada, emailAddress: 'ada' },
  ])
    expect(outcome(await sandbox.api('POST', path, body))).toEqual([400, 'INVALID_REQUEST']);
  expect(outcome(await sandbox.api('POST', path, { jobCandidateId: 999 }))).toEqual([404, 'NOT_FOUND']);
  await sandbox.control.act('setAssessmentStatus', { assessmentId: sandbox.assessmentId, status: 'INACTIVE' });
  expect(outcome(await sandbox.api('POST', path, ada))).toEqual([400, 'INVALID_REQUEST']);
  expect(outcome(await sandbox.api('POST', `${path}/bulk`, { candidates: [ada] }))).toEqual([400, 'INVALID_REQUEST']);
  expect((await sandbox.control.counts({ kind: 'effect', name: 'invite' })).effect).toBeUndefined();
});

test("another company's job candidate cannot be invited", async () => {
  await using sandbox = await openWithAssessment();
  const theirs = { companyId: sandbox.otherCompanyId };
  const job = await sandbox.control.act('createJob', { ...theirs, job: { title: 'Theirs' } });
  const added = (await sandbox.control.act('addCandidate', {
    ...theirs,
    jobId: Number(job['id']),
    candidate: { email: 'x@example.com' },
  })) as Json;
  expect(await errorOf(sandbox.invite({ jobCandidateId: added.jobCandidateId }))).toMatchObject({
    status: 404,
    code: 'NOT_FOUND',
  });
});

test('a bulk invite answers at once and settles each entry on its own, in request order', async () => {
  await using sandbox = await openWithAssessment({ jobs: 1, candidates: 4 });
  const { params } = sandbox;
  const known = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data.at(-1);
  await sandbox.invite(ada);
  const person = (name: string) => ({ firstName: name, lastName: 'B', emailAddress: `${name}@example.com` });
  const candidates = [
    { ...person('bo'), externalRef: 'r-1' },
    ada,
    { jobCandidateId: known.id, externalRef: null },
    { ...person('bo'), emailAddress: 'BO@example.com', externalRef: 'r-2' },
    { jobCandidateId: 999 },
    person('cy'),
  ];
  const accepted = await sandbox.api('POST', `/assessment/${sandbox.assessmentId}/invite/bulk`, { candidates });
  expect([accepted.status, accepted.body.data]).toEqual([202, { batchId: expect.any(String), totalCount: 6 }]);
  const batchParams = { ...params, batchId: accepted.body.data.batchId };
  const waiting = (await sandbox.partner.assessments.getInviteBatch({ params: batchParams })).data;
  expect(waiting).toMatchObject({ status: 'processing', totalCount: 6, successCount: 0, results: [] });
  expect(await sandbox.told('assessment.bulk_invite.completed')).toEqual([]);
  await sandbox.later();
  const { data } = await sandbox.partner.assessments.getInviteBatch({ params: batchParams });
  const counts = { totalCount: 6, successCount: 3, failedCount: 1, skippedCount: 2 };
  expect(data).toMatchObject({ status: 'completed', ...counts });
  expect(data.results?.[3]?.emailAddress).toBe('BO@example.com');
  expect(data.results?.map(({ status, reason, externalRef }) => [status, reason, externalRef])).toEqual([
    ['invited', null, 'r-1'],
    ['skipped', 'DUPLICATE_INVITE', null],
    ['invited', null, null],
    ['skipped', 'DUPLICATE_IN_REQUEST', 'r-2'],
    ['failed', 'NOT_FOUND', null],
    ['invited', null, null],
  ]);
  expect(await sandbox.told('assessment.bulk_invite.completed')).toEqual([
    { batchId: batchParams.batchId, assessmentId: sandbox.assessmentId, ...counts },
  ]);
  const elsewhere = (await sandbox.partner.readAll(contract.assessments.list)).items.at(-1)?.assessmentId ?? '';
  for (const wrong of [
    { ...batchParams, assessmentId: elsewhere },
    { ...params, batchId: 'unknown' },
  ])
    expect(await errorOf(sandbox.partner.assessments.getInviteBatch({ params: wrong }))).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
    });
});

test('a bulk invite takes 1 to 5,000 entries, all valid, or none', async () => {
  await using sandbox = await openWithAssessment();
  const path = `/assessment/${sandbox.assessmentId}/invite/bulk`;
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...ada, emailAddress: `p${n}@example.com` }));
  for (const candidates of [
    undefined,
    'ada@example.com',
    [],
    many(5001),
    [ada, { firstName: 'B' }],
    [{ ...ada, emailAddress: 'nobody' }],
    [{ ...ada, externalRef: 'x'.repeat(256) }],
  ])
    expect(outcome(await sandbox.api('POST', path, { candidates }))).toEqual([400, 'INVALID_REQUEST']);
  const { body } = await sandbox.api('POST', path, {
    candidates: many(5000).map((one) => ({ ...one, externalRef: 'x'.repeat(255) })),
  });
  expect(body.data.totalCount).toBe(5000);
  await sandbox.later();
  expect(await sandbox.told('assessment.bulk_invite.completed')).toMatchObject([
    { successCount: 5000, failedCount: 0 },
  ]);
});
