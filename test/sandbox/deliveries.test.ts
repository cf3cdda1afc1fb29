import { expect, test } from 'vitest';
import { isEventName } from '../../src/partner/contract/events.ts';
import { unlessStalled } from '../harness/pace.ts';
import { eventually, openReceiver, openSandbox } from './open-sandbox.ts';

const job = { title: 'Night Auditor' };

test('a delivery is a POST with the envelope and the three headers', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openSandbox({ webhookUrl: receiver.url, webhookKey: 'whsec_1' });
  await sandbox.control.act('createJob', { job });
  const [delivery] = await eventually(
    () => receiver.received,
    (seen) => seen.length === 1,
  );
  expect(delivery?.body).toEqual({
    event: 'job.created',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    companyId: sandbox.companyId,
    data: { jobId: expect.any(Number), title: 'Night Auditor' },
  });
  expect(delivery?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-webhook-event': 'job.created',
    'x-webhook-timestamp': delivery?.body.timestamp,
    'x-webhook-key': 'whsec_1',
  });
});

test('without a webhook key the header is there and empty; a new key counts at once', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openSandbox({ webhookUrl: receiver.url });
  await sandbox.control.act('createJob', { job });
  await eventually(
    () => receiver.received.length,
    (n) => n === 1,
  );
  await sandbox.control.act('setWebhook', { key: 'rotated' });
  await sandbox.control.act('createJob', { job });
  await eventually(
    () => receiver.received.length,
    (n) => n === 2,
  );
  expect(receiver.received.map((one) => one.headers['x-webhook-key'])).toEqual(['', 'rotated']);
});

test(
  'a refused delivery comes again after 200, 400 and 800 ms with the same body, and any 2xx stops it',
  unlessStalled,
  async () => {
    await using receiver = await openReceiver([500, 302, 404, 204]);
    await using sandbox = await openSandbox({ webhookUrl: receiver.url });
    await sandbox.control.act('createJob', { job });
    await eventually(
      () => receiver.received,
      (seen) => seen.length === 4,
    );
    const [first, ...later] = receiver.received;
    expect(new Set(receiver.received.map((one) => JSON.stringify(one.body))).size).toBe(1);
    const gaps = later.map((one, index) => one.at - (receiver.received[index] ?? first)!.at);
    for (const [index, least] of [195, 395, 795].entries()) expect(gaps[index]).toBeGreaterThanOrEqual(least);
    expect(gaps[2]).toBeLessThan(1600);
    const log = await eventually(
      () => sandbox.control.deliveries(),
      (rows) => rows.length === 4,
    );
    expect(log.map((row) => [row.attempt, row.status, row.outcome])).toEqual([
      [1, 500, 'waiting'],
      [2, 302, 'waiting'],
      [3, 404, 'waiting'],
      [4, 204, 'delivered'],
    ]);
  },
);

test('after four failures it is dropped for good', async () => {
  await using receiver = await openReceiver([500, 500, 500, 500]);
  await using sandbox = await openSandbox({ webhookUrl: receiver.url, clock: 'stepped' });
  await sandbox.control.act('createJob', { job });
  for (const [attempts, ms] of [
    [1, 200],
    [2, 400],
    [3, 800],
    [4, 3_600_000],
  ] as const) {
    await eventually(
      () => sandbox.control.deliveries(),
      (rows) => rows.length === attempts,
    );
    await sandbox.control.act('advanceClock', { ms });
  }
  expect((await sandbox.control.health()).pendingDeliveries).toBe(0);
  expect((await sandbox.control.deliveries()).at(-1)?.outcome).toBe('dropped');
  expect(receiver.received).toHaveLength(4);
});

test('nobody listening is a failed attempt with its reason', async () => {
  await using sandbox = await openSandbox({ webhookUrl: 'http://127.0.0.1:9/nobody' });
  await sandbox.control.act('createJob', { job });
  const [row] = await eventually(
    () => sandbox.control.deliveries(),
    (rows) => rows.length > 0,
  );
  expect(row).toMatchObject({ status: null, outcome: 'waiting', error: 'ECONNREFUSED' });
});

test('without a URL an event happens and is not delivered', async () => {
  await using sandbox = await openSandbox();
  await sandbox.control.act('createJob', { job });
  expect(await sandbox.control.counts()).toMatchObject({ event: { 'job.created': 1 } });
  expect((await sandbox.control.health()).pendingDeliveries).toBe(0);
});

test('the log is read by event, status and date range', async () => {
  await using receiver = await openReceiver([500]);
  await using sandbox = await openSandbox({ webhookUrl: receiver.url, jobs: 1 });
  await sandbox.control.act('createJob', { job });
  await eventually(
    () => sandbox.control.deliveries(),
    (rows) => rows.length === 2,
  );
  await sandbox.control.act('setJobStatus', { jobId: 50_001, status: 'INACTIVE' });
  await eventually(
    () => sandbox.control.deliveries(),
    (rows) => rows.length === 3,
  );
  expect(await sandbox.control.deliveries({ status: 500 })).toHaveLength(1);
  const at = Date.parse((await sandbox.control.deliveries())[0]?.at ?? '');
  const [day, dayBefore] = [at, at - 86_400_000].map((time) => new Date(time).toISOString().slice(0, 10)) as [
    string,
    string,
  ];
  expect(await sandbox.control.deliveries({ from: day, to: day })).toHaveLength(3);
  expect(await sandbox.control.deliveries({ to: dayBefore })).toEqual([]);
  expect(await sandbox.control.deliveries({ event: 'job.status_changed' })).toHaveLength(1);
  expect(await sandbox.control.deliveries({ to: '2020-01-01T00:00:00Z' })).toEqual([]);
  expect(await sandbox.control.deliveries({ from: '2020-01-01T00:00:00Z' })).toHaveLength(3);
});

test('every event told carries a name of section 6', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 3 });
  const { control } = sandbox;
  const { flows } = await control.act('listOnboardingFlows');
  const [one] = (await sandbox.api('GET', '/job-candidates/job/50001/candidates')).body.data;
  await control.act('apply', { jobId: 50_001, candidate: { email: 'a@example.com' } });
  await control.act('move', { jobCandidateIds: [one.id], stageType: 'HIRED' });
  await control.act('reject', { jobCandidateIds: [one.id] });
  await control.act('editJob', { jobId: 50_001, fields: { city: 'Oslo' } });
  await control.act('deleteJobCandidate', { jobCandidateIds: [one.id] });
  const enrolled = await control.act('enrol', {
    flowId: String(flows[0]?.['flowId']),
    firstName: 'A',
    lastName: 'B',
    email: 'a@example.com',
  });
  await control.act('finishOnboarding', { onboardingCandidateId: String(enrolled?.['onboardingCandidateId']) });
  const names = Object.keys((await control.counts({ kind: 'event' })).event ?? {});
  expect(names.length).toBeGreaterThanOrEqual(9);
  expect(names.filter((name) => !isEventName(name))).toEqual([]);
});
