import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import type { HttpRequest } from '../../src/http/http-error.ts';
import { sendRequest } from '../../src/http/request.ts';
import { withoutRandom } from '../harness/without-random.ts';
import { trustedPairs } from '../hris/tls-proxy.ts';
import { closedPort, errorOf, poolTo, serve, serveBytes } from './servers.ts';

const get: HttpRequest = { method: 'GET', path: '/v1' };
const post: HttpRequest = { method: 'POST', path: '/v1', body: '{"a":1}' };

describe('an answer', () => {
  test('comes back whole, whatever its status, with our request id sent along', async () => {
    let seen: unknown;
    const url = await serve((request, response) => {
      seen = request.headers['x-request-id'];
      response.writeHead(418, { 'x-kind': 'teapot' }).end('short');
    });
    const answer = await sendRequest(poolTo(url), get);
    expect(answer).toMatchObject({ status: 418, headers: { 'x-kind': 'teapot' } });
    expect(answer.body.toString()).toBe('short');
    expect(seen).toBe(answer.requestId);
  });

  test.each([301, 302, 307, 308])('that redirects with %i is not followed', async (status) => {
    const paths: unknown[] = [];
    const url = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    expect((await sendRequest(poolTo(url), get)).status).toBe(status);
    expect(paths).toEqual(['/v1']);
  });

  test.each([
    ['gzip', gzipSync('{"ok":true}')],
    ['deflate', deflateSync('{"ok":true}')],
  ])('packed with %s is unpacked', async (encoding, packed) => {
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(packed),
    );
    expect((await sendRequest(poolTo(url), get)).body.toString()).toBe('{"ok":true}');
  });

  test('comes over connections that are kept, not over a new one each', async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x');
    });
    const pool = poolTo(url);
    for (let call = 0; call < 20; call += 1) await sendRequest(pool, get);
    expect(ports.size).toBeLessThanOrEqual(2);
  });
});

describe('a request that was never sent says retry', () => {
  test('when the connection is refused', async () => {
    const error = await errorOf(sendRequest(poolTo(`http://127.0.0.1:${await closedPort()}`), post));
    expect(error).toMatchObject({ code: 'UNREACHABLE', action: 'retry', details: { reason: 'ECONNREFUSED' } });
  });

  test('when the host has no address', async () => {
    const error = await errorOf(sendRequest(poolTo('http://nowhere.invalid'), post));
    expect(error).toMatchObject({ code: 'UNREACHABLE', action: 'retry' });
  });

  test('when the other side does not speak TLS', async () => {
    const { url, requests } = await serveBytes((socket) => socket.destroy());
    const error = await errorOf(
      sendRequest(poolTo(url.replace('http:', 'https:'), { timeouts: { connectMs: 1000 } }), post),
    );
    expect(error).toMatchObject({ code: 'UNREACHABLE', action: 'retry' });
    expect(requests).toEqual([]);
  });

  test('when an https address leads to a server of plain http: it says so', async () => {
    const url = await serve((_request, response) => response.end());
    const error = await errorOf(sendRequest(poolTo(url.replace('http:', 'https:')), post));
    expect(error.message).toContain('does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER): check the port');
  });

  test('when the certificate is not right: it says what is wrong with it, and what to do', async () => {
    const { expired, wrong, right } = await trustedPairs();
    const said = async (pair: typeof right): Promise<string> => {
      const server = createTlsServer(pair, (_request, response) => response.end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const pool = poolTo(`https://localhost:${(server.address() as AddressInfo).port}`);
      return (await errorOf(sendRequest(pool, post))).message;
    };
    expect(await said(expired)).toContain('has expired (CERT_HAS_EXPIRED): ');
    expect(await said(wrong)).toContain('of another host (ERR_TLS_CERT_ALTNAME_INVALID): ');
    setDefaultCACertificates([]);
    onTestFinished(() => setDefaultCACertificates(getCACertificates('bundled')));
    expect(await said(right)).toContain('unknown here (UNABLE_TO_VERIFY_LEAF_SIGNATURE): ');
  });

  test('when it waits for a free connection until its total time is over', async () => {
    const { url, requests } = await serveBytes(() => undefined);
    const pool = poolTo(url, { connections: 1 });
    const first = sendRequest(pool, { ...get, timeouts: { totalMs: 600 } });
    const second = await errorOf(sendRequest(pool, { ...post, timeouts: { totalMs: 100 } }));
    expect(second).toMatchObject({ code: 'UNREACHABLE', action: 'retry', details: { reason: 'TIMEOUT' } });
    await errorOf(first);
    expect(requests.filter((text) => text.startsWith('POST'))).toEqual([]);
  });

  test('when it is cancelled beforehand', async () => {
    const { url, requests } = await serveBytes(() => undefined);
    const error = await errorOf(sendRequest(poolTo(url), { ...post, signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'ABORTED', action: 'retry' });
    expect(requests).toEqual([]);
  });
});

describe('beforeSend', () => {
  test('stops the request when it throws: no byte arrives, and its own error is thrown', async () => {
    const { url, requests } = await serveBytes((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    const late = new ConnectorError({ code: 'TOO_LATE', action: 'unknown', message: 'deadline passed' });
    const error = await errorOf(
      sendRequest(poolTo(url), {
        ...post,
        beforeSend: () => {
          throw late;
        },
      }),
    );
    expect(error).toBe(late);
    await sendRequest(poolTo(url), get);
    expect(requests.map((text) => text.split(' ')[0])).toEqual(['GET']);
  });

  test('runs after the connection stands, and before a byte has arrived', async () => {
    const events: string[] = [];
    const server = createServer((socket) => {
      events.push('connected');
      socket.once('data', () => {
        events.push('bytes');
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await sendRequest(poolTo(`http://127.0.0.1:${port}`), {
      ...post,
      beforeSend: () => void events.push('before send'),
    });
    server.close();
    expect(events.indexOf('before send')).toBeLessThan(events.indexOf('bytes'));
  });

  test('is asked once for each request on a kept connection', async () => {
    const url = await serve((_request, response) => response.end('x'));
    const pool = poolTo(url);
    let asked = 0;
    for (let call = 0; call < 3; call += 1) await sendRequest(pool, { ...get, beforeSend: () => void (asked += 1) });
    expect(asked).toBe(3);
  });
});

/** Each misbehaviour after the request arrived: reason in details, and whether a status was seen. */
const lostAnswers: [string, (socket: Socket) => void, { reason: string; status?: number }][] = [
  ['is reset without an answer', (socket) => socket.resetAndDestroy(), { reason: 'ECONNRESET' }],
  ['is closed without an answer', (socket) => socket.end(), { reason: 'UND_ERR_SOCKET' }],
  [
    'is cut in the middle of the body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'),
    { reason: 'UND_ERR_SOCKET', status: 200 },
  ],
  [
    'is cut between two chunks',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'),
    { reason: 'UND_ERR_SOCKET', status: 200 },
  ],
  [
    'is answered with something that is not HTTP',
    (socket) => socket.end('SSH-2.0-nothing\r\n'),
    { reason: 'HTTPParserError' },
  ],
];

describe('a request without a complete answer', () => {
  test.each(lostAnswers)(
    'that %s is unknown for a write and retry for a read, and sent once',
    async (_name, misbehave, facts) => {
      const { url, requests } = await serveBytes(misbehave);
      const pool = poolTo(url);
      const write = await errorOf<ConnectorError>(sendRequest(pool, post));
      const read = await errorOf<ConnectorError>(sendRequest(pool, get));
      expect(write).toMatchObject({ code: 'NO_ANSWER', action: 'unknown', details: { reason: facts.reason } });
      expect(read).toMatchObject({ code: 'NO_ANSWER', action: 'retry' });
      expect(write.status).toBe(facts.status);
      expect(requests.map((text) => text.split(' ')[0])).toEqual(['POST', 'GET']);
    },
  );

  test('is unknown when no answer comes in time, and the total time bounds an answer that drips', async () => {
    const { url } = await serveBytes((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    const error = await errorOf(sendRequest(poolTo(url), { ...post, timeouts: { totalMs: 150 } }));
    expect(error).toMatchObject({ code: 'NO_ANSWER', action: 'unknown', status: 200, details: { reason: 'TIMEOUT' } });
  });

  test('is unknown when the caller cancels it under way', async () => {
    const cancel = new AbortController();
    const { url } = await serveBytes(() => cancel.abort());
    const error = await errorOf(sendRequest(poolTo(url), { ...post, signal: cancel.signal }));
    expect(error).toMatchObject({ code: 'ABORTED', action: 'unknown' });
  });

  test('may be called repeatable by whoever knows it is', async () => {
    const { url } = await serveBytes((socket) => socket.destroy());
    expect(await errorOf(sendRequest(poolTo(url), { ...post, idempotent: true }))).toMatchObject({ action: 'retry' });
  });

  test('never shows the query, which may hold an e-mail', async () => {
    const { url } = await serveBytes((socket) => socket.destroy());
    const error = await errorOf(sendRequest(poolTo(url), { ...get, path: '/list?candidateEmail=ada%40example.com' }));
    expect(withoutRandom(error.message)).not.toContain('ada');
    expect(error.message).toContain('GET /list');
  });
});
