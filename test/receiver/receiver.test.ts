import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { deliver, hired, KEY, OLD_KEY, startTestReceiver } from './receiver-fixture.ts';

test('a verified delivery is in the inbox when its 200 arrives, with its ids and without its payload', async () => {
  const { receiver, rows } = await startTestReceiver();
  const body = hired([1, 2]);
  expect(await deliver(receiver.url, body)).toEqual({ status: 200, code: 'STORED' });
  const hash = createHash('sha256').update(body).digest('hex');
  expect(await rows()).toMatchObject([
    {
      tenant_id: 'acme',
      body_hash: hash,
      event: 'candidate.hired',
      ids: '{"jobCandidateId":["1","2"]}',
      body: '',
      state: 'waiting',
    },
  ]);
});

test('no payload is kept but of an event that nobody knows, which a person is to look at', async () => {
  const { receiver, rows } = await startTestReceiver();
  const named = (event: string, companyId: string) =>
    JSON.stringify({
      event,
      companyId,
      data: { jobCandidateIds: [1], candidate: { email: `canary-${event}@x.example` } },
    });
  const bodies = [named('candidate.hired', '77'), named('candidate.hired', '4711'), named('interview.brand_new', '77')];
  for (const body of bodies) expect((await deliver(receiver.url, body)).status).toBe(200);
  const kept = (await rows()).filter((row) => JSON.stringify(row).includes('canary'));
  expect(kept).toMatchObject([{ event: 'interview.brand_new', state: 'unknown', body: bodies[2] }]);
});

test('a repeated body is answered 200 and stored once', async () => {
  const { receiver, rows } = await startTestReceiver();
  await deliver(receiver.url, hired([1]));
  expect(await deliver(receiver.url, hired([1]))).toEqual({ status: 200, code: 'REPEATED' });
  expect(await rows()).toHaveLength(1);
});

test('an address that ends with a slash is the same address', async () => {
  const { receiver, rows } = await startTestReceiver();
  expect(await deliver(receiver.url, hired([1]), { tenant: 'acme/' })).toEqual({ status: 200, code: 'STORED' });
  expect(await rows()).toHaveLength(1);
});

test('a request by GET is told of as no refused webhook, a wrong key is', async () => {
  const refused: string[] = [];
  const { receiver } = await startTestReceiver({ onRefused: (tenant, code) => refused.push(`${tenant} ${code}`) });
  await deliver(receiver.url, '', { method: 'GET' });
  await deliver(receiver.url, hired([1]), { key: 'whk_wrong' });
  expect(refused).toEqual(['acme WEBHOOK_KEY_WRONG']);
});

test('both keys are accepted while a rotation lasts', async () => {
  const { receiver, rows } = await startTestReceiver();
  expect((await deliver(receiver.url, hired([1]), { key: KEY })).status).toBe(200);
  expect((await deliver(receiver.url, hired([2]), { key: OLD_KEY })).status).toBe(200);
  expect(await rows()).toHaveLength(2);
});

test.each([
  ['an unknown tenant', hired([1]), { tenant: 'nobody' }, 404, 'WEBHOOK_PATH_UNKNOWN'],
  ['a path below a tenant', hired([1]), { tenant: 'acme/more' }, 404, 'WEBHOOK_PATH_UNKNOWN'],
  ['another method', '', { method: 'GET' }, 405, 'WEBHOOK_METHOD_WRONG'],
  ['another content type', hired([1]), { headers: { 'content-type': 'text/plain' } }, 415, 'WEBHOOK_TYPE_WRONG'],
  ['a compressed body', hired([1]), { headers: { 'content-encoding': 'gzip' } }, 415, 'WEBHOOK_TYPE_WRONG'],
  ['a wrong key', hired([1]), { key: 'whk_wrong' }, 401, 'WEBHOOK_KEY_WRONG'],
  ['an empty key', hired([1]), { key: '' }, 401, 'WEBHOOK_KEY_WRONG'],
  ['any key where the tenant has none', hired([1]), { tenant: 'open', key: 'x' }, 401, 'WEBHOOK_KEY_WRONG'],
  ['no key where the tenant has none', hired([1]), { tenant: 'open', key: '' }, 401, 'WEBHOOK_KEY_WRONG'],
  ['truncated JSON', hired([1]).slice(0, -9), {}, 400, 'WEBHOOK_MALFORMED'],
  ['an empty body', '', {}, 400, 'WEBHOOK_MALFORMED'],
  ['a body without an event', '{"data":{}}', {}, 400, 'WEBHOOK_MALFORMED'],
  ['a JSON array', '[]', {}, 400, 'WEBHOOK_MALFORMED'],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), {}, 400, 'WEBHOOK_MALFORMED'],
  [
    'a body over the limit',
    `{"event":"candidate.hired","pad":"${'x'.repeat(1_000_000)}"}`,
    {},
    413,
    'WEBHOOK_TOO_LARGE',
  ],
])('%s is refused with its status, counted, and leaves no row', async (_what, body, options, status, code) => {
  const { receiver, rows, metrics } = await startTestReceiver();
  expect(await deliver(receiver.url, body, options)).toEqual({ status, code });
  expect(await rows()).toHaveLength(0);
  const tenant = status === 404 ? '' : ((options as { tenant?: string }).tenant ?? 'acme');
  expect(await metrics()).toContain(
    `hirebridge_webhook_deliveries_total{tenant="${tenant}",status="${status}",code="${code}"} 1`,
  );
});

test('a wrong key is refused before the body is looked at, however malformed it is, and opens no store', async () => {
  const { receiver, opened } = await startTestReceiver();
  expect((await deliver(receiver.url, 'not json', { key: 'whk_wrong' })).status).toBe(401);
  expect(opened()).toBe(1);
});

test('an unknown event is stored as unknown, answered 200 and alarmed', async () => {
  const { receiver, rows, metrics, logged } = await startTestReceiver();
  const body = JSON.stringify({ event: 'interview.brand_new', data: {} });
  expect((await deliver(receiver.url, body)).status).toBe(200);
  expect(await rows()).toMatchObject([{ event: 'interview.brand_new', state: 'unknown' }]);
  expect(await metrics()).toContain('hirebridge_webhook_unknown_events_total{tenant="acme"} 1');
  expect(logged()).toContain('event of unknown name or form stored');
});

test('a known event whose data is no object is kept for a person with its body and ids, and answered 200', async () => {
  const { receiver, rows, metrics, logged } = await startTestReceiver();
  const body = hired([], { data: [{ jobCandidateIds: [1] }, { jobCandidateIds: [2] }] });
  expect(await deliver(receiver.url, body)).toEqual({ status: 200, code: 'STORED' });
  const ids = '{"jobCandidateId":["1","2"]}';
  expect(await rows()).toMatchObject([{ event: 'candidate.hired', state: 'unknown', ids, body }]);
  expect(await metrics()).toContain('hirebridge_webhook_unknown_events_total{tenant="acme"} 1');
  expect(logged()).toContain('event of unknown name or form stored');
});

test('an event of a stream not built yet is stored closed', async () => {
  const { receiver, rows } = await startTestReceiver();
  await deliver(receiver.url, JSON.stringify({ event: 'job.created', companyId: '77', data: { jobId: 1 } }));
  expect(await rows()).toMatchObject([{ event: 'job.created', state: 'ignored' }]);
});

test.each([
  ['as a number', 77],
  ['as text', '77'],
  ['not at all', undefined],
])("a companyId given %s is taken for the tenant's own", async (_how, companyId) => {
  const { receiver, rows } = await startTestReceiver();
  expect((await deliver(receiver.url, hired([1], { companyId }))).status).toBe(200);
  expect(await rows()).toMatchObject([{ state: 'waiting' }]);
});

test('an event of another company is stored as foreign, answered 200 and counted', async () => {
  const { receiver, rows, metrics } = await startTestReceiver();
  expect((await deliver(receiver.url, hired([1], { companyId: 78 }))).status).toBe(200);
  expect(await rows()).toMatchObject([{ state: 'other-company' }]);
  expect(await metrics()).toContain('hirebridge_webhook_foreign_company_total{tenant="acme"} 1');
});

test('no key and no word of a body reaches the log, refused or not', async () => {
  const { receiver, logged } = await startTestReceiver();
  const body = JSON.stringify({
    event: 'candidate.hired',
    companyId: 5,
    data: { email: 'ada@example.org', name: 'Ada' },
  });
  await deliver(receiver.url, body);
  await deliver(receiver.url, body, { key: 'whk_wrong_secret' });
  await deliver(receiver.url, `${body}{"Lovelace"`, {});
  expect(logged()).toContain('delivery refused');
  for (const secret of [KEY, 'whk_wrong_secret', 'ada@example.org', 'Ada', 'Lovelace'])
    expect(logged()).not.toContain(secret);
});
