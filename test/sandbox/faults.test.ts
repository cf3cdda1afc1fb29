import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, openReceiver, openSandbox } from './open-sandbox.ts';

const pipeline = { name: 'Fast track' };

async function pipelines(sandbox: Awaited<ReturnType<typeof openSandbox>>): Promise<number> {
  return (await sandbox.control.counts({ kind: 'effect' })).effect?.['pipeline'] ?? 0;
}

/** The request as a client sees it: a status, or `no answer`. */
async function post(
  sandbox: Awaited<ReturnType<typeof openSandbox>>,
  init: RequestInit = {},
): Promise<{ status: number | 'no answer'; text: string; headers?: Headers }> {
  try {
    const headers = { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${sandbox.url}/pipelines`, {
      method: 'POST',
      headers,
      body: JSON.stringify(pipeline),
      ...init,
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } catch {
    return { status: 'no answer', text: '' };
  }
}

test.each([
  ['throttle', 429, 0],
  ['server-error', 500, 0],
  ['server-error-after', 500, 1],
  ['reset-before', 'no answer', 0],
  ['answer-lost', 'no answer', 1],
  ['truncated-body', 'no answer', 1],
  ['html-body', 200, 1],
  ['revoked-key', 401, 0],
  ['inactive-account', 403, 0],
  ['latency', 200, 1],
] as const)('%s answers %s and executes %i times, once, and is counted', async (kind, status, executed) => {
  await using sandbox = await openSandbox();
  await sandbox.control.act('setFaults', { faults: [{ kind, on: 'pipelines.create', times: 1, ms: 20 }] });
  expect((await post(sandbox)).status).toBe(status);
  expect(await pipelines(sandbox)).toBe(executed);
  expect((await post(sandbox)).status).toBe(200);
  const counts = await sandbox.control.counts();
  expect([counts.fault, counts.request]).toEqual([{ [kind]: 1 }, { 'pipelines.create': 2 }]);
  expect(await sandbox.control.ledger({ kind: 'request', fault: kind })).toHaveLength(1);
});

test('latency is counted besides the fault that it comes with', async () => {
  await using sandbox = await openSandbox();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'latency', ms: 20 }, { kind: 'throttle' }] });
  expect((await post(sandbox)).status).toBe(429);
  const counts = await sandbox.control.counts();
  expect([counts.fault, counts.request]).toEqual([{ latency: 1, throttle: 1 }, { 'pipelines.create': 1 }]);
});

test('an executed-late call acts after the client has given up', async () => {
  await using sandbox = await openSandbox();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'executed-late', ms: 300 }] });
  expect((await post(sandbox, { signal: AbortSignal.timeout(50) })).status).toBe('no answer');
  expect(await pipelines(sandbox)).toBe(0);
  await eventually(
    () => pipelines(sandbox),
    (n) => n === 1,
  );
});

test('on a stepped clock it acts when the clock gets there', async () => {
  await using sandbox = await openSandbox({ clock: 'stepped' });
  await sandbox.control.act('setFaults', { faults: [{ kind: 'executed-late', ms: 10_000 }] });
  expect((await post(sandbox, { signal: AbortSignal.timeout(50) })).status).toBe('no answer');
  await sandbox.control.act('advanceClock', { ms: 9999 });
  expect(await pipelines(sandbox)).toBe(0);
  await sandbox.control.act('advanceClock', { ms: 1 });
  await eventually(
    () => pipelines(sandbox),
    (n) => n === 1,
  );
});

test('Retry-After is given when asked for, in seconds or as a date, and else missing', async () => {
  await using sandbox = await openSandbox();
  for (const retryAfter of [7, 'Wed, 21 Oct 2099 07:28:00 GMT', undefined]) {
    await sandbox.control.act('setFaults', {
      faults: [{ kind: 'throttle', ...(retryAfter === undefined ? {} : { retryAfter }) }],
    });
    expect((await post(sandbox)).headers?.get('retry-after')).toBe(
      retryAfter === undefined ? null : String(retryAfter),
    );
  }
});

test('a fault strikes only the operation, company and call it names', async () => {
  const otherKey = 'sk_test_OtherCompany0123456789';
  await using sandbox = await openSandbox({ otherKey });
  await sandbox.control.act('setFaults', {
    faults: [{ kind: 'server-error', on: 'pipelines.*', companyId: sandbox.companyId, nth: [2, 3] }],
  });
  const statuses = [];
  for (let call = 0; call < 4; call += 1) statuses.push((await sandbox.api('GET', '/pipelines')).status);
  expect(statuses).toEqual([200, 500, 500, 200]);
  expect((await sandbox.api('GET', '/pipelines', undefined, { key: otherKey })).status).toBe(200);
  expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
});

test('a fault strikes only the record it names, in the path or in the body', async () => {
  await using sandbox = await openSandbox();
  const faults = [
    { kind: 'server-error' as const, on: 'pipelines.create', holding: '"Slow track"' },
    { kind: 'server-error' as const, holding: '/jobs/7' },
  ];
  await sandbox.control.act('setFaults', { faults });
  expect((await post(sandbox)).status).toBe(200);
  expect((await post(sandbox, { body: JSON.stringify({ name: 'Slow track' }) })).status).toBe(500);
  expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
  expect((await sandbox.api('GET', '/jobs/7')).status).toBe(500);
});

test('chance follows the seed of the plan', async () => {
  const run = async (seed: number) => {
    await using sandbox = await openSandbox({ faults: { seed, faults: [{ kind: 'server-error', probability: 0.5 }] } });
    const statuses = [];
    for (let call = 0; call < 20; call += 1) statuses.push((await sandbox.api('GET', '/jobs')).status);
    return statuses.join(' ');
  };
  const [first, again, other] = [await run(1), await run(1), await run(2)];
  expect(first).toBe(again);
  expect(first).not.toBe(other);
  expect(first).toContain('500');
  expect(first).toContain('200');
});

test('webhooks are lost, duplicated, late and reordered as planned', async () => {
  await using receiver = await openReceiver();
  await using sandbox = await openSandbox({ webhookUrl: receiver.url, clock: 'stepped' });
  await sandbox.control.act('setFaults', {
    faults: [
      { kind: 'webhook-lost', on: 'job.created', nth: 1 },
      { kind: 'webhook-duplicated', on: 'job.created', nth: 2 },
      { kind: 'webhook-late', on: 'job.created', nth: 3, ms: 5000 },
    ],
  });
  for (const title of ['Lost', 'Twice', 'Late', 'Usual']) await sandbox.control.act('createJob', { job: { title } });
  const titles = () => receiver.received.map((one) => String(one.body.data.title));
  await eventually(titles, (seen) => seen.length === 3);
  await sandbox.control.act('advanceClock', { ms: 5000 });
  await eventually(titles, (seen) => seen.length === 4);
  expect(titles().toSorted((a, b) => a.localeCompare(b))).toEqual(['Late', 'Twice', 'Twice', 'Usual']);
  expect(titles().at(-1)).toBe('Late');
  expect((await sandbox.control.counts()).fault).toEqual({
    'webhook-lost': 1,
    'webhook-duplicated': 1,
    'webhook-late': 1,
  });
});

test('a plan comes from a file, and a bad one is refused with the field', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'faults-')), 'plan.json');
  writeFileSync(file, JSON.stringify({ seed: 1, faults: [{ kind: 'server-error' }] }));
  {
    await using sandbox = await openSandbox({ faults: file });
    expect((await sandbox.api('GET', '/jobs')).status).toBe(500);
  }
  writeFileSync(file, JSON.stringify({ faults: [{ kind: 'gremlins' }] }));
  await expect(openSandbox({ faults: file })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('faults.0.kind'),
  });
  await expect(openSandbox({ faults: '/nowhere.json' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
});

test('a schema surprise changes the named number of records of a page, and nothing that is stored', async () => {
  await using sandbox = await openSandbox({ candidates: 10 });
  const list = async () => {
    const response = await fetch(`${sandbox.url}/candidates/list`, {
      headers: { authorization: `Bearer ${sandbox.key}` },
    });
    return ((await response.json()) as { data: Record<string, unknown>[] }).data;
  };
  const plain = await list();
  const surprises: [string, (record: Record<string, unknown>) => boolean][] = [
    ['unknown-key', (record) => 'introducedLater' in record],
    ['id-as-text', (record) => typeof record['id'] === 'string'],
    ['null-for-absent', (record) => record['firstName'] === null && record['skills'] === null],
    ['unreadable', (record) => typeof record['id'] === 'object'],
  ];
  for (const [surprise, shows] of surprises) {
    await sandbox.control.act('setFaults', {
      faults: [{ kind: 'schema-surprise', surprise: surprise as 'unreadable', items: 3 }],
    });
    expect([surprise, (await list()).map(shows)]).toEqual([surprise, plain.map((_, index) => index < 3)]);
  }
  await sandbox.control.act('clearFaults');
  expect(await list()).toEqual(plain);
});

test('page drift shifts what the next page begins with', async () => {
  await using sandbox = await openSandbox({ jobs: 15, candidates: 25 });
  await sandbox.control.act('setFaults', {
    faults: [
      { kind: 'page-drift', nth: 1, on: 'jobs.list' },
      { kind: 'page-drift', nth: 2, on: 'candidates.list' },
    ],
  });
  const ids = async (path: string, key: string) =>
    (await sandbox.api('GET', path)).body[key].map((one: { id: number }) => one.id);
  const first = await ids('/jobs?pageNumber=1', 'jobs');
  expect(first[0]).toBe(50_016);
  const people = await ids('/candidates/list?pageNumber=0', 'data');
  const next = await ids('/candidates/list?pageNumber=1', 'data');
  expect(next[0]).toBe(people.at(-1) + 2);
});

test('what was to be executed later no longer happens once the sandbox is closed', async () => {
  await using sandbox = await openSandbox();
  await sandbox.control.act('setFaults', { faults: [{ kind: 'executed-late', ms: 200 }] });
  expect((await post(sandbox, { signal: AbortSignal.timeout(20) })).status).toBe('no answer');
  await sandbox.close();
  // Defects are checked when the sandbox is disposed of, after the call's time has come.
  await new Promise((resolve) => setTimeout(resolve, 250));
});
