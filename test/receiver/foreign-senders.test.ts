import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { deliver, hired, KEY, startTestReceiver } from './receiver-fixture.ts';

const JSON_TYPE = 'application/json';
const BOM = '\uFEFF';

/** One delivery whose headers are sent just so, names repeated and all; the body leaves in chunks. */
async function send(url: string, headers: readonly string[], body: string) {
  const post = request(`${url}/webhooks/acme`, { method: 'POST', headers: ['host', 'x', ...headers] });
  post.on('error', () => undefined);
  for (const half of [body.slice(0, 20), body.slice(20)]) post.write(half);
  post.end();
  const [response] = await once(post, 'response');
  const answer = JSON.parse(await text(response)) as Record<string, string>;
  return { status: response.statusCode as number, code: Object.values(answer)[0] };
}

const chunked = ['transfer-encoding', 'chunked'];

test.each([
  ['in chunks, without a length', ['content-type', JSON_TYPE, 'x-webhook-key', KEY], 200, 'STORED'],
  [
    'whose headers are in capitals',
    ['CONTENT-TYPE', 'Application/JSON; Charset=UTF-8', 'X-WEBHOOK-KEY', KEY],
    200,
    'STORED',
  ],
  [
    'with the key twice',
    ['content-type', JSON_TYPE, 'x-webhook-key', KEY, 'x-webhook-key', KEY],
    401,
    'WEBHOOK_KEY_WRONG',
  ],
  ['without a content type', ['x-webhook-key', KEY], 415, 'WEBHOOK_TYPE_WRONG'],
])('a delivery %s is stored only where its answer is 200', async (_what, headers, status, code) => {
  const { receiver, rows } = await startTestReceiver({ maxBodyMs: 10_000, maxWaitMs: 10_000 });
  expect(await send(receiver.url, [...chunked, ...headers], hired([1]))).toEqual({ status, code });
  expect(await rows()).toHaveLength(status === 200 ? 1 : 0);
});

test('a body behind a byte order mark is read like any other', async () => {
  const { receiver, rows } = await startTestReceiver({ maxBodyMs: 10_000, maxWaitMs: 10_000 });
  expect((await deliver(receiver.url, `${BOM}${hired([7])}`)).status).toBe(200);
  expect(await rows()).toMatchObject([{ event: 'candidate.hired', ids: '{"jobCandidateId":["7"]}' }]);
});

test('an event named in another case is unknown: it is stored, and leads to nothing by guess', async () => {
  const { receiver, rows } = await startTestReceiver({ maxBodyMs: 10_000, maxWaitMs: 10_000 });
  expect((await deliver(receiver.url, hired([1], { event: 'Candidate.Hired' }))).status).toBe(200);
  expect(await rows()).toMatchObject([{ event: 'Candidate.Hired', state: 'unknown' }]);
});
