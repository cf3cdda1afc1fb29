import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/http/http-error.ts';
import { sendRequest } from '../../src/http/request.ts';
import { errorOf, poolTo, serve } from './servers.ts';

const get: HttpRequest = { method: 'GET', path: '/v1' };
const post: HttpRequest = { method: 'POST', path: '/v1', body: '{"a":1}' };
const limit = { maxBodyBytes: 1000 };

test('a body said to be too large is not read', async () => {
  const url = await serve((_request, response) =>
    response.writeHead(200, { 'content-length': 5000 }).end('x'.repeat(5000)),
  );
  expect(await errorOf(sendRequest(poolTo(url), { ...get, ...limit }))).toMatchObject({
    code: 'ANSWER_TOO_LARGE',
    action: 'retry',
  });
});

test('a body that becomes too large is cut off', async () => {
  let closed = false;
  const url = await serve((_request, response) => {
    response.on('close', () => (closed = true));
    const more = (): void => {
      if (!closed) response.write('x'.repeat(500), more);
    };
    more();
  });
  expect(await errorOf(sendRequest(poolTo(url), { ...post, ...limit }))).toMatchObject({
    code: 'ANSWER_TOO_LARGE',
    action: 'unknown',
  });
  await expect.poll(() => closed).toBe(true);
});

test('a small body that unpacks to a huge one is cut off', async () => {
  let closed = false;
  const url = await serve((_request, response) => {
    response.on('close', () => (closed = true));
    // Without an end: no answer comes of a client that unpacks all of it first.
    const zeros = new Readable({ read: () => zeros.push(closed ? null : Buffer.alloc(1_000_000)) });
    zeros.pipe(createGzip()).pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
  });
  const error = await errorOf(sendRequest(poolTo(url), { ...get, maxBodyBytes: 100_000 }));
  expect(error).toMatchObject({ code: 'ANSWER_TOO_LARGE' });
  await expect.poll(() => closed).toBe(true);
});

test.each([
  ['broken gzip', 'gzip', Buffer.from('no gzip at all')],
  ['gzip cut short', 'gzip', gzipSync('hello hello hello').subarray(0, 20)],
  ['an encoding nobody asked for', 'br', Buffer.from('x')],
])('%s is an unreadable answer', async (_name, encoding, body) => {
  const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
  const error = await errorOf(sendRequest(poolTo(url), post));
  expect(error).toMatchObject({ code: 'UNREADABLE_ANSWER', action: 'unknown', status: 200 });
});
