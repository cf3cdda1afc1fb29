import { expect, test } from 'vitest';
import { CHOICES, LISTS } from '../../../src/sandbox/control/browse.ts';
import { eventually, type Json, type OpenSandbox, openReceiver, openSandbox } from '../open-sandbox.ts';

const FILE = /(?:from |href=|src=|@import url\()["'](\.?\/?[\w./-]+\.(?:js|css))["']/g;

async function browse(sandbox: OpenSandbox, path: string, query: Record<string, string> = {}): Promise<Json> {
  const search = new URLSearchParams({ companyId: String(sandbox.companyId), ...query });
  const response = await fetch(`${sandbox.controlUrl}/browse/${path}?${search.toString()}`);
  return { status: response.status, ...((await response.json()) as object) };
}

test('every file that the page asks for is served from here, and nothing else may run or be shown', async () => {
  await using sandbox = await openSandbox();
  const asked = ['/'];
  for (const path of asked) {
    const response = await fetch(sandbox.controlUrl + path);
    const text = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*script-src 'self';/);
    expect(text, path).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|https?:\/\/|style=/);
    const found = [...text.matchAll(FILE)].map(([, name = '']) => new URL(name, `http://x/page/`).pathname);
    asked.push(...found.filter((name) => !asked.includes(name)));
  }
  expect(asked.length).toBeGreaterThan(15);
});

test('files beside the page are not served', async () => {
  await using sandbox = await openSandbox();
  for (const path of ['/page/../state.ts', '/page/%2e%2e/state.ts', '/page/none.js', '/page/'])
    expect([path, (await fetch(sandbox.controlUrl + path)).status]).toEqual([path, 404]);
});

test.each([...Object.keys(LISTS), ...Object.keys(CHOICES)])('%s can be listed and searched', async (kind) => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 30, hired: 2 });
  const all = await browse(sandbox, kind);
  expect([all.status, Array.isArray(all.rows), typeof all.more]).toEqual([200, true, 'boolean']);
  for (const row of all.rows) expect([typeof row.label, row.id === undefined]).toEqual(['string', false]);
  expect((await browse(sandbox, kind, { search: 'no record is called so' })).rows).toEqual([]);
  const filters = { status: 'nowhere', ...(kind === 'applications' ? { jobId: '50001' } : {}) };
  expect((await browse(sandbox, kind, filters)).status).toBe(200);
});

test('a list goes on where its first page stopped, and is narrowed by words and status', async () => {
  await using sandbox = await openSandbox({ jobs: 2, candidates: 30 });
  const first = await browse(sandbox, 'candidates');
  const rest = await browse(sandbox, 'candidates', { skip: '25' });
  expect([first.rows.length, first.more, rest.rows.length, rest.more]).toEqual([25, true, 5, false]);
  const [{ email }] = rest.rows;
  expect((await browse(sandbox, 'candidates', { search: email.toUpperCase() })).rows).toEqual([rest.rows[0]]);
  await sandbox.control.act('setJobStatus', { jobId: 50_002, status: 'INACTIVE' });
  expect((await browse(sandbox, 'jobs', { status: 'INACTIVE' })).rows).toMatchObject([{ id: 50_002 }]);
});

test('another company sees none of it', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 3, otherKey: `sk_test_${'o'.repeat(22)}` });
  const other = { companyId: String(sandbox.otherCompanyId) };
  for (const kind of ['jobs', 'candidates', 'applications'])
    expect((await browse(sandbox, kind, other)).rows).toEqual([]);
  expect((await browse(sandbox, 'jobs/50001', other)).status).toBe(404);
  expect((await browse(sandbox, 'applications/600001', other)).status).toBe(404);
});

test('a record that is not there is 404, as is a list that nobody knows', async () => {
  await using sandbox = await openSandbox();
  for (const path of ['jobs/1', 'candidates/1', 'applications/1', 'enrolments/none', 'interviews/1', 'offers/none'])
    expect([path, (await browse(sandbox, path)).status]).toEqual([path, 404]);
  for (const path of ['secrets', 'secrets/1', 'constructor', 'constructor/1'])
    expect([path, (await browse(sandbox, path)).status]).toEqual([path, 404]);
});

test('the last requests are shown with what was sent and answered, never with the key', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const body = { email: 'ada@example.net', firstName: 'Ada', jobId: 50_001 };
  const { body: answer } = await sandbox.api('POST', '/candidates', body);
  const { exchanges } = await browse(sandbox, 'exchanges');
  expect(exchanges).toMatchObject([{ method: 'POST', url: '/v1/partner/candidates', operation: 'candidates.add' }]);
  expect([JSON.parse(exchanges[0].sent), JSON.parse(exchanges[0].answered)]).toEqual([body, answer]);
  expect(JSON.stringify(exchanges)).not.toContain(sandbox.key);
});

test('a hundred requests are kept, and of a long body the beginning', async () => {
  await using sandbox = await openSandbox();
  for (let n = 0; n < 101; n += 1) await sandbox.api('GET', `/jobs?pageNumber=${String(n + 1)}`);
  await sandbox.api('POST', '/candidates', { email: 'x@example.net', summary: 'x'.repeat(50_000) });
  const { exchanges } = await browse(sandbox, 'exchanges');
  expect([exchanges.length, exchanges.at(-1).url]).toEqual([100, '/v1/partner/jobs?pageNumber=3']);
  expect([exchanges[0].sent.length < 17_000, exchanges[0].sent.slice(-24)]).toEqual([
    true,
    expect.stringMatching(/more/),
  ]);
});

test('deliveries are shown with their payload and how the receiver answered', async () => {
  await using receiver = await openReceiver([500]);
  await using sandbox = await openSandbox({ webhookUrl: receiver.url });
  await sandbox.control.act('createJob', { job: { title: 'Night nurse' } });
  const seen = await eventually(
    () => browse(sandbox, 'deliveries'),
    ({ deliveries }) => deliveries.length === 2,
  );
  expect(seen.deliveries.map((one: Json) => [one.event, one.status, one.attempt])).toEqual([
    ['job.created', 200, 2],
    ['job.created', 500, 1],
  ]);
  expect(JSON.parse(seen.deliveries[0].payload)).toEqual(receiver.received[0]?.body);
});

test('limits, faults and quirks are told with how often they struck', async () => {
  await using sandbox = await openSandbox({ limit: 'token:1:2', quirks: 'blank-emails' });
  await sandbox.control.act('addFault', { kind: 'latency', ms: 1, on: 'pipelines.list' });
  for (const path of ['/pipelines', '/jobs', '/jobs']) await sandbox.api('GET', path);
  const told = await browse(sandbox, 'machinery');
  expect(told).toMatchObject({ limit: 'token:1:2', refusedByLimit: 1, quirks: ['blank-emails'] });
  expect(told.faults).toMatchObject([{ kind: 'latency', seen: 1, struck: 1 }]);
});
