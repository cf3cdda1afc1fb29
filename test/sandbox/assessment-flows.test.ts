import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { openWithFlow } from './open-flow.ts';
import { outcome } from './open-partner.ts';
import type { Json } from './open-sandbox.ts';

test('a flow is created in short, read in full, and listed', async () => {
  await using sandbox = await openWithFlow();
  const body = { flowName: ' Short ', steps: [{ assessmentId: sandbox.first, assessmentType: 'AI_VIDEO_INTERVIEW' }] };
  const made = await sandbox.api('POST', '/assessment-flows', body);
  expect([made.status, made.body.data]).toEqual([
    200,
    { id: expect.any(Number), flowName: 'Short', companyId: sandbox.companyId, status: 'ACTIVE' },
  ]);
  const short = (await sandbox.partner.assessmentFlows.get({ params: { id: made.body.data.id } })).data;
  expect(short).toMatchObject({ description: null, candidateCount: 0 });
  expect(short.steps).toMatchObject([
    { passThreshold: 0, type: 'AI_VIDEO_INTERVIEW', assessmentType: 'AI_VIDEO_INTERVIEW', name: null },
  ]);
  const full = (await sandbox.partner.assessmentFlows.get({ params: sandbox.params })).data;
  expect(full.steps).toMatchObject([
    { ...sandbox.steps[0], assessmentName: 'First', assessmentDuration: 20 },
    { ...sandbox.steps[1], assessmentName: 'Second', type: 'AI_VIDEO_INTERVIEW' },
  ]);
  const listed = (await sandbox.partner.readAll(contract.assessmentFlows.list)).items;
  expect(listed.map(({ flowName }) => flowName)).toEqual(['Two interviews', 'Ward', 'Short']);
});

test("a flow without name or steps, with a bad threshold, or with a stranger's assessment is refused", async () => {
  await using sandbox = await openWithFlow();
  const [theirs] = (await sandbox.other.readAll(contract.assessments.list)).items;
  const step = { assessmentId: sandbox.first };
  const refused: [body: unknown, status: number, code: string][] = [
    [{ steps: [step] }, 400, 'INVALID_REQUEST'],
    [{ flowName: ' ', steps: [step] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X' }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [{}] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [{ ...step, passThreshold: -1 }] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [{ ...step, passThreshold: 101 }] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [step, step] }, 400, 'INVALID_REQUEST'],
    [{ flowName: 'X', steps: [{ assessmentId: 'unknown' }] }, 404, 'NOT_FOUND'],
    [{ flowName: 'X', steps: [{ assessmentId: theirs?.assessmentId }] }, 404, 'NOT_FOUND'],
  ];
  for (const [body, ...expected] of refused)
    expect([body, ...outcome(await sandbox.api('POST', '/assessment-flows', body))]).toEqual([body, ...expected]);
  expect((await sandbox.partner.readAll(contract.assessmentFlows.list)).items).toHaveLength(2);
});

test('what a step does with those who pass is of any form, and fixed', async () => {
  await using sandbox = await openWithFlow();
  const [one, two] = sandbox.steps as [Json, Json];
  const next = { assessmentId: sandbox.spare, passAction: { type: 'ADVANCE' } };
  const grown = await sandbox.api('PATCH', sandbox.path, { steps: [one, two, next] });
  expect([grown.status, grown.body.data.steps[2].passAction]).toEqual([200, { type: 'ADVANCE' }]);
  expect((await sandbox.api('PATCH', sandbox.path, { steps: [one, two, next] })).status).toBe(200);
  const other = { ...next, passAction: { type: 'STOP' } };
  expect(outcome(await sandbox.api('PATCH', sandbox.path, { steps: [one, two, other] }))).toEqual([
    400,
    'INVALID_REQUEST',
  ]);
});

test('a flow only grows: existing steps keep all but their threshold, new ones follow', async () => {
  await using sandbox = await openWithFlow();
  const [one, two] = sandbox.steps as [Json, Json];
  const next = { assessmentId: sandbox.spare, passThreshold: 10 };
  const refused: Json[][] = [
    [one],
    [next, two],
    [two, one],
    [one, next, two],
    [{ ...one, name: 'Renamed' }, two],
    [{ ...one, instructions: 'Hurry' }, two],
    [{ ...one, passAction: 'STOP' }, two],
    [{ ...one, type: 'AI_AUDIO_INTERVIEW' }, two],
    [one, { ...two, name: 'Named' }],
    [one, two, one],
    [{ ...one, passThreshold: 101 }, two],
  ];
  for (const steps of refused)
    expect(outcome(await sandbox.api('PATCH', sandbox.path, { steps }))).toEqual([400, 'INVALID_REQUEST']);
  expect(outcome(await sandbox.api('PATCH', sandbox.path, { steps: [one, two, { assessmentId: 'unknown' }] }))).toEqual(
    [404, 'NOT_FOUND'],
  );
  const grown = await sandbox.partner.assessmentFlows.update({
    params: sandbox.params,
    body: { steps: [{ assessmentId: sandbox.first, passThreshold: 100 }, two, next] },
  });
  expect(grown.data.steps).toMatchObject([{ ...one, passThreshold: 100 }, two, { ...next, assessmentName: 'Spare' }]);
  const renamed = (
    await sandbox.partner.assessmentFlows.update({
      params: sandbox.params,
      body: { flowName: 'Night', description: '' },
    })
  ).data;
  expect([renamed.flowName, renamed.description, renamed.steps?.length]).toEqual(['Night', '', 3]);
  for (const body of [{}, { colour: 'red' }, { status: 'GONE' }, { flowName: ' ' }, { steps: [] }])
    expect(outcome(await sandbox.api('PATCH', sandbox.path, body))).toEqual([400, 'INVALID_REQUEST']);
});

test('an INACTIVE flow takes nobody new; a DELETED one is gone', async () => {
  await using sandbox = await openWithFlow();
  const assigned = await sandbox.assign({ email: 'ada@example.com' });
  await sandbox.partner.assessmentFlows.update({ params: sandbox.params, body: { status: 'INACTIVE' } });
  expect(await errorOf(sandbox.assign({ email: 'bo@example.com' }))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
  });
  expect((await sandbox.assign({ email: 'ada@example.com' })).data.flowCandidateId).toBe(assigned.data.flowCandidateId);
  const deleted = await sandbox.partner.assessmentFlows.update({ params: sandbox.params, body: { status: 'DELETED' } });
  expect(deleted.data.status).toBe('DELETED');
  expect((await sandbox.partner.readAll(contract.assessmentFlows.list)).items.map(({ flowName }) => flowName)).toEqual([
    'Two interviews',
  ]);
  expect(outcome(await sandbox.api('GET', sandbox.path))).toEqual([404, 'NOT_FOUND']);
});

test('whoever is assigned gets the first invitation; the same e-mail is the same assignment', async () => {
  await using sandbox = await openWithFlow({ jobs: 1, candidates: 4 });
  const known = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data.at(-1);
  const byMail = (await sandbox.assign({ email: 'Ada@Example.com', firstName: 'Ada', talentId: 7 })).data;
  expect(byMail).toMatchObject({ message: expect.any(String), firstStepAssessmentId: sandbox.first });
  const again = (await sandbox.assign({ email: 'ada@example.com' })).data;
  expect(again.flowCandidateId).toBe(byMail.flowCandidateId);
  const byId = (await sandbox.assign({ jobCandidateId: known.id, jobId: 50_001 })).data;
  expect(byId.flowCandidateId).not.toBe(byMail.flowCandidateId);
  expect(await sandbox.candidates()).toMatchObject([
    { email: 'ada@example.com', firstName: 'Ada', lastName: null, status: 'NOT_STARTED', currentStep: 1 },
    { email: known.candidate_details.email, firstName: known.candidate_details.firstName, status: 'NOT_STARTED' },
  ]);
  expect((await sandbox.partner.assessmentFlows.get({ params: sandbox.params })).data.candidateCount).toBe(2);
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toMatchObject({ invite: 2, 'flow-assignment': 2 });
  const invited = { firstName: 'Ada', lastName: 'L', emailAddress: 'ada@example.com' };
  const twice = sandbox.partner.assessments.invite({ params: { assessmentId: sandbox.first }, body: invited });
  expect(await errorOf(twice)).toMatchObject({ code: 'DUPLICATE_INVITE' });
});

test('an assignment names somebody of the company, in a flow of the company', async () => {
  await using sandbox = await openWithFlow();
  const theirs = { companyId: sandbox.otherCompanyId };
  const job = await sandbox.control.act('createJob', { ...theirs, job: { title: 'Theirs' } });
  const foreign = (await sandbox.control.act('addCandidate', {
    ...theirs,
    jobId: Number(job['id']),
    candidate: { email: 'x@example.com' },
  })) as Json;
  const refused: [body: unknown, status: number, code: string][] = [
    [{}, 400, 'INVALID_REQUEST'],
    [{ firstName: 'Ada' }, 400, 'INVALID_REQUEST'],
    [{ email: 'nobody' }, 400, 'INVALID_REQUEST'],
    [{ jobCandidateId: 999 }, 404, 'NOT_FOUND'],
    [{ jobCandidateId: foreign.jobCandidateId }, 404, 'NOT_FOUND'],
    [{ email: 'a@example.com', jobId: 999 }, 404, 'NOT_FOUND'],
    [{ email: 'a@example.com', jobId: job['id'] }, 404, 'NOT_FOUND'],
  ];
  for (const [body, ...expected] of refused)
    expect([body, ...outcome(await sandbox.api('POST', `${sandbox.path}/assign`, body))]).toEqual([body, ...expected]);
  for (const [key, path, status] of [
    [sandbox.otherKey, sandbox.path, 404],
    [sandbox.key, '/assessment-flows/999', 404],
    [sandbox.key, '/assessment-flows/abc', 400],
  ] as const)
    for (const [method, rest, body] of [
      ['GET', ''],
      ['PATCH', '', { flowName: 'Mine' }],
      ['GET', '/candidates'],
      ['POST', '/assign', { email: 'a@example.com' }],
    ] as const)
      expect((await sandbox.api(method, path + rest, body, { key })).status).toBe(status);
  expect(await sandbox.candidates()).toEqual([]);
});
