import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { act } from '../../src/sandbox/control/server.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { settleDelivery, takeDueDeliveries } from '../../src/sandbox/records/deliveries.ts';
import { countLedger } from '../../src/sandbox/records/ledger.ts';
import { eventually, openReceiver, openSandbox } from './open-sandbox.ts';

test('a restart with the same file keeps records, ledger, keys and what was still to be delivered', async () => {
  const state = join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'state.db');
  await using receiver = await openReceiver();
  let jobs: unknown;
  let key = '';
  {
    await using sandbox = await openSandbox({ state, jobs: 2, candidates: 5, webhookUrl: 'http://127.0.0.1:9/down' });
    key = (await sandbox.control.act('regenerateKey')).key ?? '';
    await sandbox.control.act('createJob', { job: { title: 'Kept' } });
    jobs = (await sandbox.api('GET', '/jobs', undefined, { key })).body;
  }
  await using again = await openSandbox({ state, jobs: 2, candidates: 5, webhookUrl: receiver.url });
  expect(again.key).toBe(key);
  expect((await again.api('GET', '/jobs')).body).toEqual(jobs);
  expect((await again.api('GET', '/candidates/list')).body.pagination.total).toBe(5);
  await eventually(
    () => receiver.received,
    (seen) => seen.length === 1,
  );
  expect((await again.control.counts()).event).toEqual({ 'job.created': 1 });
});

test('a key that was regenerated stays invalid after a restart that names it again', async () => {
  const state = join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'state.db');
  const key = `sk_test_${'a'.repeat(22)}`;
  let regenerated: string | null = null;
  {
    await using sandbox = await openSandbox({ state, key });
    regenerated = (await sandbox.control.act('regenerateKey')).key;
  }
  await using again = await openSandbox({ state, key });
  expect(again.key).toBe(regenerated);
  expect((await again.api('GET', '/jobs', undefined, { key })).status).toBe(401);
  expect((await again.api('GET', '/jobs')).status).toBe(200);
});

test('the same seed makes the same people, ids and keys; another makes others', async () => {
  const people = async (seed: number) => {
    await using sandbox = await openSandbox({ seed, jobs: 2, candidates: 20, clock: 'stepped' });
    const flows = (await sandbox.api('GET', '/onboarding/flows')).body;
    return JSON.stringify([sandbox.key, flows, (await sandbox.api('GET', '/candidates/list?perPage=20')).body]);
  };
  const [first, again, other] = await Promise.all([people(3), people(3), people(4)]);
  expect(first).toBe(again);
  expect(first).not.toBe(other);
});

test('seeded people are varied and reach nobody', async () => {
  await using sandbox = await openSandbox({ jobs: 3, candidates: 100, hired: 10 });
  const { data } = (await sandbox.api('GET', '/candidates/list?perPage=100')).body;
  const distinct = (field: string) =>
    new Set(data.map((one: Record<string, unknown>) => JSON.stringify(one[field]))).size;
  expect(distinct('email')).toBe(100);
  for (const field of ['firstName', 'lastName', 'phone', 'dateOfBirth']) expect(distinct(field)).toBeGreaterThan(20);
  for (const one of data) {
    expect(one.email).toMatch(/^[a-z.]+\d+@(example\.(com|org|net)|mail\.example)$/);
    expect(one.phone).toMatch(/^\+[1-9]\d{7,14}$/);
  }
  expect((await sandbox.api('GET', '/job-candidates/stage?stageType=HIRED')).body.pagination.total).toBe(10);
  expect(await sandbox.control.counts({ kind: 'event' })).toEqual({});
});

test('a refused call leaves its ledger row and nothing else', async () => {
  await using sandbox = await openSandbox();
  await sandbox.api('POST', '/jobs', { title: 'x' });
  await sandbox.api('GET', '/jobs', undefined, { key: 'wrong', headers: { 'x-request-id': 'mine-1' } });
  const rows = await sandbox.control.ledger({ kind: 'request' });
  expect(rows.map((row) => [row.name, row.status, row.companyId])).toEqual([
    ['jobs.create', 400, sandbox.companyId],
    ['jobs.list', 401, undefined],
  ]);
  expect(rows[1]?.requestId).toBe('mine-1');
  expect(await sandbox.control.counts({ kind: 'effect' })).toEqual({});
});

test('the ledger ties an effect to the request that caused it, and to the door it came through', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  const [one] = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data;
  const { data } = (await sandbox.api('GET', '/pipelines')).body;
  await sandbox.api(
    'PUT',
    `/job-candidates/${one.id}/stage`,
    { stageId: data[0].stages[5].id },
    { headers: { 'x-request-id': 'move-1' } },
  );
  await sandbox.control.act('move', { jobCandidateIds: [one.id], stageType: 'SCREEN' });
  const moves = await sandbox.control.ledger({ kind: 'effect', name: 'stage-move', subject: String(one.id) });
  expect(moves.map((row) => [row.origin, row.requestId])).toEqual([
    ['api', 'move-1'],
    ['dashboard', undefined],
  ]);
});

test('without sockets: calls, dashboard, deliveries and time, all in memory', () => {
  const { state, key } = createSandboxState({
    file: ':memory:',
    clock: 'stepped',
    jobs: 1,
    candidates: 2,
    webhookUrl: 'http://nowhere.example/hook',
  });
  const call = (method: string, url: string, body?: unknown) => {
    const response = handle(state, {
      method,
      url: `/v1/partner${url}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: JSON.parse(response.body) };
  };
  const [one] = call('GET', '/job-candidates/job/50001/candidates').body.data;
  act(state, 'move', { jobCandidateIds: [one.id], stageType: 'HIRED' });
  const due = takeDueDeliveries(state);
  expect(due.map((delivery) => delivery.event)).toEqual(['candidate.stage_changed', 'candidate.hired']);
  expect(
    due.map((delivery) =>
      settleDelivery(state, delivery, { status: delivery.event === 'candidate.hired' ? 503 : 200 }),
    ),
  ).toEqual(['delivered', 'waiting']);
  expect(takeDueDeliveries(state)).toEqual([]);
  state.advance(200);
  expect(takeDueDeliveries(state).map((delivery) => [delivery.event, delivery.attempt])).toEqual([
    ['candidate.hired', 1],
  ]);
  expect(countLedger(state).delivery).toEqual({ 'candidate.stage_changed': 1, 'candidate.hired': 1 });
  state.close();
});

const keys = ['A', 'B', 'C'].map((last) => `sk_test_000000000000000000000${last}`);

test('keys given at a restart replace the kept ones, that of the second company too', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sandbox-')), 'state.db');
  const [key, otherKey, newOtherKey] = keys;
  createSandboxState({ file, key, otherKey }).state.close();
  const { state, ...again } = createSandboxState({ file, otherKey: newOtherKey });
  const status = (sent = '') =>
    handle(state, { method: 'GET', url: '/v1/partner/teams', headers: { authorization: `Bearer ${sent}` } }).status;
  expect([again.key, again.otherKey]).toEqual([key, newOtherKey]);
  expect([key, otherKey, newOtherKey].map(status)).toEqual([200, 401, 200]);
  state.close();
  expect(() => createSandboxState({ file, key: newOtherKey })).toThrow(/--key is the key of another company/);
});

test.each([
  ['--other-key', { key: keys[0], otherKey: keys[0] }],
  ['--webhook-url', { webhookUrl: 'ftp://hooks.example' }],
  ['--webhook-url', { webhookUrl: 'hooks' }],
])('%s of %j is refused', (option, options) => {
  expect(() => createSandboxState(options)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(option) }),
  );
});
