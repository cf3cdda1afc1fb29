import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { callHris, type HrisLimits, openLine } from '../../src/hris/http-line.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { SharedRateLimitState } from '../../src/rate-limit/lease-permits.ts';
import { type Priority, type RateLimitAnswer, unlimited } from '../../src/rate-limit/rate-limit.ts';
import { createSharedRateLimit } from '../../src/rate-limit/shared-rate-limit.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Notes what is asked of each endpoint's rate limit. */
function recorded() {
  const asked: (Priority | undefined)[] = [];
  const answers: RateLimitAnswer[] = [];
  const endpoints: (string | undefined)[] = [];
  const limits: HrisLimits = (endpoint) => ({
    ...unlimited,
    acquire: async (priority) => {
      endpoints.push(endpoint);
      asked.push(priority);
    },
    answered: (answer) => void answers.push(answer),
  });
  return { asked, answers, endpoints, limits };
}

async function openBamboo(url: string, limits: HrisLimits) {
  const options = { url, apiKey: 'key', referenceField: 'customRef', allowPrivateAddress: true };
  const hris = await openHris('bamboohr', 'test-hr', options, { limits });
  closers.push(() => hris.close());
  return hris;
}

async function openTryton(url: string, limits: HrisLimits) {
  const options = {
    url,
    database: 'hr',
    user: 'hirebridge',
    password: 'secret',
    company: 1,
    allowPrivateAddress: true,
  };
  const hris = await openHris('tryton', 'test-hr', options, { limits });
  closers.push(() => hris.close());
  return hris;
}

const signal = new AbortController().signal;

describe('a call to an HR system over HTTP', () => {
  test.each([
    ['with Retry-After', { 'retry-after': '7' }, 7_000],
    ['without', {}, undefined],
  ])('that is answered 429 %s tells the rate limit so', async (_what, headers, retryAfterMs) => {
    const { limits, answers, asked } = recorded();
    const url = await serve((_request, response) => void response.writeHead(429, headers).end());
    const hris = await openBamboo(url, limits);
    expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { action: 'throttle' } });
    expect(answers).toMatchObject([{ status: 429, retryAfterMs }]);
    expect(asked).toEqual(['live']);
  });

  test('gives its permit back with no answer where none comes', async () => {
    const { limits, answers } = recorded();
    const url = await serve((request) => void request.socket.destroy());
    const hris = await openBamboo(url, limits);
    await hris.probe(signal);
    expect(answers).toMatchObject([{ status: 0 }]);
  });

  test('waits no longer behind a pause than its caller will: the rate limit says how long it takes', async () => {
    let calls = 0;
    const url = await serve((_request, response) => {
      calls += 1;
      response.writeHead(429, { 'retry-after': '60' }).end();
    });
    let saved: Partial<SharedRateLimitState> = {};
    const rateLimit = createSharedRateLimit(async (change) => {
      const { rateLimit: next, result } = change(saved, Date.now());
      saved = next ?? saved;
      return result;
    });
    closers.push(() => rateLimit.close());
    const hris = await openBamboo(url, () => rateLimit);
    await hris.probe(signal);
    await expect.poll(() => rateLimit.waitMs('live')).toBeGreaterThan(50_000);
    const given = new AbortController();
    const late = hris.employees.read('7', given.signal);
    given.abort();
    await expect(late).rejects.toMatchObject({ action: 'retry', code: 'STOPPED' });
    expect(calls).toBe(1);
  });

  test('is one of four at once', async () => {
    const waiting: (() => void)[] = [];
    let arrived = 0;
    const url = await serve((_request, response) => {
      arrived += 1;
      waiting.push(() => response.writeHead(404).end());
    });
    const hris = await openBamboo(url, () => unlimited);
    const reads = Promise.allSettled(Array.from({ length: 6 }, (_, n) => hris.employees.read(`${n + 41}`, signal)));
    await expect.poll(() => arrived).toBe(4);
    waiting.splice(0, 2).forEach((answer) => answer());
    await expect.poll(() => arrived).toBe(6);
    waiting.forEach((answer) => answer());
    await reads;
  });
});

test('logins to Tryton are limited apart from its other calls', async () => {
  const { limits, endpoints } = recorded();
  const url = await serve((request, response) => {
    const isLogin = request.headers.authorization === undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 1, result: isLogin ? [1, 'session'] : [{ id: 1 }] }));
  });
  const hris = await openTryton(url, limits);
  await hris.probe(signal);
  expect(endpoints).toEqual(['login', undefined, undefined]);
});

test.for([
  [301, 'unknown', 'reject'],
  [302, 'unknown', 'reject'],
  [303, 'unknown', 'reject'],
  [307, 'reject', 'reject'],
  [308, 'reject', 'reject'],
] as const)('a write that is answered %i is %s; one that may be repeated is %s', async ([status, once, repeated]) => {
  const url = await serve((_request, response) => void response.writeHead(status, { location: '/1' }).end());
  const line = openLine(url, { allowPrivate: true, limits: () => unlimited });
  closers.push(() => line.close());
  const call = {
    what: 'POST /staff',
    method: 'POST',
    path: '/staff',
    headers: {},
    signal: AbortSignal.timeout(120_000),
  };
  for (const [idempotent, action] of [
    [false, once],
    [true, repeated],
  ] as const)
    await expect(callHris(line, { ...call, method: 'POST', idempotent })).rejects.toMatchObject({ action, status });
});

test('a call that is not answered is told by its own name, without the values in its path', async () => {
  const dropped = await serve((request) => void request.socket.destroy());
  const held = 'ana.reyes@kestrel.example';
  const request = { what: 'GET /staff/{id}', method: 'GET', path: `/staff/${held}?key=s3cret`, headers: {} } as const;
  for (const url of [dropped, 'http://127.0.0.1:9']) {
    const line = openLine(url, { allowPrivate: true, limits: () => unlimited });
    closers.push(() => line.close());
    const error: unknown = await callHris(line, { ...request, signal: AbortSignal.timeout(120_000) }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).toMatch(/GET \/staff\/\{id\} \(request [\w-]+\) was (not )?sent/);
    expect(String(error)).not.toMatch(/reyes|s3cret/);
  }
});
