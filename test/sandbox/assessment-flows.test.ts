import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { errorOf } from '../http/servers.ts';
import { openPartner, outcome } from './open-partner.ts';
import type { Json } from './open-sandbox.ts';

/** A flow through two assessments of its own, with thresholds of 50 and 70. */
async function openWithFlow(options: Parameters<typeof openPartner>[0] = {}) {
  const sandbox = await openPartner(options);
  const make = async (title: string) =>
    String((await sandbox.control.act('createAssessment', { title }))['assessmentId']);
  const [first, second, spare] = [await make('First'), await make('Second'), await make('Spare')];
  const steps = [
    { assessmentId: first, passThreshold: 50, name: 'One', instructions: 'Be calm', passAction: 'NEXT' },
    { assessmentId: second, passThreshold: 70 },
  ];
  const { id } = (
    await sandbox.partner.assessmentFlows.create({ body: { flowName: 'Ward', description: 'Two', steps } })
  ).data;
  const params = { id };
  return {
    ...sandbox,
    first,
    second,
    spare,
    steps,
    params,
    path: `/assessment-flows/${id}`,
    assign: (body: Json) => sandbox.partner.assessmentFlows.assign({ params, body }),
    candidates: async () => (await sandbox.partner.readAll(contract.assessmentFlows.listCandidates, { params })).items,
    take: async (flowCandidateId: unknown, score: number) => {
      await sandbox.control.act('finishFlowStep', { flowCandidateId: Number(flowCandidateId), score });
      await sandbox.later();
    },
  };
}

test('a flow is created in short, read in full, and listed', async () => {
  await using sandbox = await openWithFlow();
  const body = { flowName: ' Short ', steps: [{ assessmentId: sandbox.first, assessmentType: 'AI_AUDIO_INTERVIEW' }] };
  const made = await sandbox.api('POST', '/assessment-flows', body);
  expect([made.status, made.body.data]).toEqual([
    200,
    { id: expect.any(Number), flowName: 'Short', companyId: sandbox.companyId, status: 'ACTIVE' },
  ]);
  const short = (await sandbox.partner.assessmentFlows.get({ params: { id: made.body.data.id } })).data;
  expect(short).toMatchObject({ description: null, candidateCount: 0 });
  expect(short.steps).toMatchObject([
    { passThreshold: 0, type: 'AI_AUDIO_INTERVIEW', assessmentType: 'AI_AUDIO_INTERVIEW', name: null },
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

test('the score decides: at the threshold the next step or COMPLETED follows, below it FAILED', async () => {
  await using sandbox = await openWithFlow();
  const statuses = async () => (await sandbox.candidates()).map(({ status, ...rest }) => [status, rest['currentStep']]);
  const ids = [];
  for (const email of ['a@example.com', 'b@example.com', 'c@example.com'])
    ids.push((await sandbox.assign({ email })).data.flowCandidateId);
  await sandbox.control.act('startInterview', { assessmentId: sandbox.first, emailAddress: 'a@example.com' });
  expect(await statuses()).toEqual([
    ['IN_PROGRESS', 1],
    ['NOT_STARTED', 1],
    ['NOT_STARTED', 1],
  ]);
  await sandbox.take(ids[0], 50);
  await sandbox.take(ids[1], 49);
  await sandbox.take(ids[2], 100);
  expect(await statuses()).toEqual([
    ['IN_PROGRESS', 2],
    ['FAILED', 1],
    ['IN_PROGRESS', 2],
  ]);
  await sandbox.take(ids[0], 70);
  await sandbox.take(ids[2], 69);
  expect(await statuses()).toEqual([
    ['COMPLETED', 2],
    ['FAILED', 1],
    ['FAILED', 2],
  ]);
  expect(
    (await sandbox.partner.assessments.get({ params: { assessmentId: sandbox.second } })).data.submissionCount,
  ).toBe(2);
  await expect(sandbox.control.act('finishFlowStep', { flowCandidateId: Number(ids[1]) })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
});

test('who has taken the interview of a step before is judged by it', async () => {
  await using sandbox = await openWithFlow();
  const emailAddress = 'a@example.com';
  for (const [assessmentId, score] of [
    [sandbox.first, 55],
    [sandbox.second, 20],
  ] as const) {
    await sandbox.partner.assessments.invite({
      params: { assessmentId },
      body: { firstName: 'A', lastName: 'B', emailAddress },
    });
    await sandbox.control.act('takeInterview', { assessmentId, emailAddress, score });
  }
  await sandbox.later();
  await sandbox.assign({ email: emailAddress });
  expect(await sandbox.candidates()).toMatchObject([{ status: 'FAILED', currentStep: 2 }]);
});

test("a flow's candidates are searched, filtered by status and paged, pageSize before perPage", async () => {
  await using sandbox = await openWithFlow();
  const { data } = await sandbox.assign({ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' });
  for (let n = 0; n < 11; n += 1) await sandbox.assign({ email: `p${n}@mail.example`, firstName: 'Bo' });
  await sandbox.take(data.flowCandidateId, 0);
  const read = async (query: string) => {
    const { body } = await sandbox.api('GET', `${sandbox.path}/candidates?${query}`);
    return [body.data.length, body.pagination];
  };
  expect(await read('')).toEqual([10, { page: 1, perPage: 10, total: 12 }]);
  expect(await read('page=2&perPage=5&pageSize=11')).toEqual([1, { page: 2, perPage: 11, total: 12 }]);
  expect(await read('perPage=100')).toEqual([12, { page: 1, perPage: 100, total: 12 }]);
  for (const [query, total] of [
    ['search=LOVE', 1],
    ['search=Ada%20Love', 1],
    ['search=mail.example', 11],
    ['search=nobody', 0],
    ['status=FAILED', 1],
    ['status=NOT_STARTED', 11],
    ['status=COMPLETED', 0],
    ['status=FAILED&search=bo', 0],
  ] as const)
    expect([query, await read(query)]).toMatchObject([query, [Math.min(10, total), { total }]]);
  for (const query of ['page=0', 'perPage=101', 'pageSize=101', 'pageSize=0', 'status=LOST'])
    expect(outcome(await sandbox.api('GET', `${sandbox.path}/candidates?${query}`))).toEqual([400, 'INVALID_REQUEST']);
});
