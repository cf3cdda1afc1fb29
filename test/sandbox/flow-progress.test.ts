import { expect, test } from 'vitest';
import { openWithFlow } from './open-flow.ts';
import { outcome } from './open-partner.ts';

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
