import { request } from 'undici';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openSandbox } from './open-sandbox.ts';

test('the actions are listed with their fields, and health is told', async () => {
  await using sandbox = await openSandbox();
  const list = (await (await fetch(`${sandbox.controlUrl}/actions`)).json()) as {
    actions: { name: string; summary: string; input: { properties?: object } }[];
  };
  expect(list.actions.length).toBeGreaterThan(30);
  for (const action of list.actions) expect([action.name, action.summary.length > 10]).toEqual([action.name, true]);
  expect(Object.keys(list.actions.find((one) => one.name === 'move')?.input.properties ?? {})).toEqual([
    'jobCandidateIds',
    'stageId',
    'stageType',
  ]);
  expect(await sandbox.control.health()).toMatchObject({ ok: true, clock: 'real' });
});

test.each([
  ['an unknown action', '/actions/dance', '{}', 404],
  ['an unknown field', '/actions/setCredits', '{"gold":1}', 400],
  ['a wrong value', '/actions/setCredits', '{"credits":-1}', 400],
  ['broken JSON', '/actions/setCredits', '{', 400],
  ['an unknown company', '/actions/setCredits', '{"companyId":1}', 404],
  ['an action of the prototype', '/actions/constructor', '{}', 404],
  ['an unknown stage', '/actions/move', '{"jobCandidateIds":[1],"stageType":"HIRED"}', 404],
])('%s is refused', async (_name, path, body, status) => {
  await using sandbox = await openSandbox();
  const response = await fetch(sandbox.controlUrl + path, { method: 'POST', body });
  expect([response.status, Object.keys((await response.json()) as object)]).toEqual([status, ['error']]);
});

test('the control plane is not reachable under the API, nor the API under it', async () => {
  await using sandbox = await openSandbox();
  expect((await fetch(`${sandbox.url}/actions`)).status).toBe(401);
  expect((await fetch(`${sandbox.controlUrl}/v1/partner/jobs`)).status).toBe(404);
});

test('an action that fails half-way leaves nothing behind', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 2 });
  const [one] = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data;
  await expect(
    sandbox.control.act('move', { jobCandidateIds: [one.id, 999], stageType: 'HIRED' }),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await sandbox.api('GET', '/job-candidates/stage?stageType=HIRED')).body.data).toEqual([]);
  expect(await sandbox.control.counts({ kind: 'event' })).toEqual({});
});

test('only a stepped clock can be advanced', async () => {
  await using sandbox = await openSandbox();
  await expect(sandbox.control.act('advanceClock', { ms: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('stepped'),
  });
});

test('a company created later works at once, with a pipeline and an onboarding flow', async () => {
  await using sandbox = await openSandbox();
  for (const key of [sandbox.key, 'secret'])
    await expect(sandbox.control.act('createCompany', { name: 'Twin', key })).rejects.toMatchObject({ status: 400 });
  const company = await sandbox.control.act('createCompany', { name: 'Late & Co' });
  const key = company.apiKey ?? '';
  expect((await sandbox.api('GET', '/pipelines', undefined, { key })).body.data).toHaveLength(1);
  expect((await sandbox.api('GET', '/onboarding/flows', undefined, { key })).body.data.flows).toHaveLength(1);
  const seeded = await sandbox.control.act('seed', { companyId: company.id, jobs: 1, candidates: 3, hired: 1 });
  expect([seeded.jobIds.length, seeded.jobCandidateIds.length, seeded.hiredJobCandidateIds.length]).toEqual([1, 3, 1]);
  expect((await sandbox.api('GET', '/jobs')).body.totalJobs).toBe(0);
});

test('the document, the collection and an environment with the key are served', async () => {
  await using sandbox = await openSandbox();
  const get = async (path: string) => (await fetch(sandbox.controlUrl + path)).text();
  const document = JSON.parse(await get('/openapi.json'));
  expect(document.servers[1].url).toBe(sandbox.url);
  expect(parse(await get('/openapi.yaml'))).toEqual(document);
  expect(JSON.parse(await get('/collection.json')).item.length).toBeGreaterThan(10);
  expect(await get('/environment.json')).toContain(sandbox.key);
});

test('the last requests are read without the first', async () => {
  await using sandbox = await openSandbox();
  for (const path of ['/jobs', '/pipelines', '/custom-fields']) await sandbox.api('GET', path);
  const last = await sandbox.control.ledger({ kind: 'request', last: 2 });
  expect(last.map((row) => row.name)).toEqual(['pipelines.list', 'customFields.list']);
});

test.each([
  ['a page of another origin', { origin: 'https://evil.example' }],
  ['a foreign name that leads to this machine', { host: 'evil.example' }],
])('%s is refused by the control plane', async (_what, headers) => {
  await using sandbox = await openSandbox();
  const answered = await request(`${sandbox.controlUrl}/environment.json`, { headers });
  expect(answered.statusCode).toBe(403);
  expect(await answered.body.text()).not.toContain(sandbox.key);
});

test('a fault added for one company strikes only that one', async () => {
  await using sandbox = await openSandbox({ otherKey: `sk_test_${'o'.repeat(22)}` });
  await sandbox.control.act('addFault', { kind: 'throttle', companyId: sandbox.otherCompanyId ?? 0 });
  expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
  expect((await sandbox.api('GET', '/jobs', undefined, { key: sandbox.otherKey ?? '' })).status).toBe(429);
});
