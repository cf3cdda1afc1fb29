import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { openSandbox } from './open-sandbox.ts';

describe('key and account', () => {
  test.each([
    ['missing', {}],
    ['of the wrong scheme', { authorization: 'Basic abc' }],
    ['unknown', { authorization: 'Bearer sk_test_0000000000000000000000' }],
    ['of production', { authorization: 'Bearer sk_live_0000000000000000000000' }],
  ])('a key that is %s is 401 with the flat body', async (_name, headers) => {
    await using sandbox = await openSandbox();
    const response = await fetch(`${sandbox.url}/jobs`, { headers });
    expect([response.status, await response.json()]).toEqual([401, { message: 'Invalid API key' }]);
  });

  test('is checked before the path, the query and the body', async () => {
    await using sandbox = await openSandbox();
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['GET', '/jobs?perPage=7'],
      ['POST', '/jobs'],
      ['GET', '/pipelines/x'],
    ] as const) {
      const { status } = await sandbox.api(method, path, undefined, {
        key: 'wrong',
        ...(method === 'POST' ? { raw: '{' } : {}),
      });
      expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 401`);
    }
  });

  test('a regenerated key invalidates the old one at once, a deactivated one is refused until activated', async () => {
    await using sandbox = await openSandbox();
    const { key } = await sandbox.control.act('regenerateKey');
    expect(key).toMatch(/^sk_test_[0-9A-Za-z]{22}$/);
    expect((await sandbox.api('GET', '/jobs')).status).toBe(401);
    expect((await sandbox.api('GET', '/jobs', undefined, { key: key ?? '' })).status).toBe(200);
    await sandbox.control.act('deactivateKey');
    expect((await sandbox.api('GET', '/jobs', undefined, { key: key ?? '' })).status).toBe(401);
    await sandbox.control.act('activateKey');
    expect((await sandbox.api('GET', '/jobs', undefined, { key: key ?? '' })).status).toBe(200);
  });

  test('the client reads the status of a key where it is assumed to stand', async () => {
    await using sandbox = await openSandbox();
    const { control, partner } = sandbox;
    expect(await partner.keyStatus()).toBe('active');
    await control.act('deactivateKey');
    expect(await partner.keyStatus()).toBe('refused');
    expect((await control.counts({ kind: 'request' })).request).toEqual({ keyStatus: 2 });
  });

  test('an inactive account is 403 ACCOUNT_INACTIVE, flat, until reactivated', async () => {
    await using sandbox = await openSandbox();
    await sandbox.control.act('deactivateAccount');
    const { status, body } = await sandbox.api('GET', '/nowhere');
    expect([status, body.code, typeof body.message, body.error]).toEqual([
      403,
      'ACCOUNT_INACTIVE',
      'string',
      undefined,
    ]);
    await sandbox.control.act('reactivateAccount');
    expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
  });

  test('a key that is no test key is refused at the start, with what to do', async () => {
    await expect(openSandbox({ key: 'secret' })).rejects.toMatchObject({ code: 'INVALID_KEY_FORMAT' });
  });
});

describe('what is not there or malformed', () => {
  test('an unknown path and a job by id are 404 NOT_FOUND in the canonical body', async () => {
    await using sandbox = await openSandbox({ jobs: 1 });
    for (const path of ['/nowhere', '/jobs/50001', '/', '/pipelines/1/2/3']) {
      const { status, body } = await sandbox.api('GET', path);
      expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
    }
  });

  test.each([
    ['broken JSON', '{"name":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['nothing', ''],
    ['nested 100,000 deep', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('a body that is %s is 400 INVALID_REQUEST', async (_name, raw) => {
    await using sandbox = await openSandbox();
    const { status, body } = await sandbox.api('POST', '/pipelines', undefined, { raw });
    expect([status, body.error.code, body.error.type]).toEqual([400, 'INVALID_REQUEST', 'validation_error']);
  });

  // Section 5.1: requests with bodies send Content-Type: application/json.
  test.each([
    ['text/plain;charset=UTF-8', 400],
    ['application/x-www-form-urlencoded', 400],
    ['', 400],
    ['application/json', 200],
    ['Application/JSON; charset=utf-8', 200],
  ])('JSON that is called "%s" is answered %i', async (type, expected) => {
    await using sandbox = await openSandbox();
    const { status, body } = await sandbox.api(
      'POST',
      '/pipelines',
      { name: 'Nurses' },
      { headers: { 'content-type': type } },
    );
    expect([status, body.error?.code]).toEqual([expected, expected === 400 ? 'INVALID_REQUEST' : undefined]);
  });

  test('details name the field by its dotted path', async () => {
    await using sandbox = await openSandbox();
    const { flows } = await sandbox.control.act('listOnboardingFlows');
    const good = { firstName: 'A', lastName: 'B', email: 'a@example.com' };
    const { status, body } = await sandbox.api(
      'POST',
      `/onboarding/flows/${String(flows[0]?.['flowId'])}/candidates/bulk`,
      { candidates: [good, { ...good, email: 'x' }] },
    );
    expect([status, Object.keys(body.error.details)]).toEqual([400, ['candidates[1].email']]);
  });

  test.each([
    ['an unknown key', { foo: 1, timezone: 3 }, ['foo', 'timezone']],
    ['the body, where it is no field,', undefined, ['body']],
  ])('details name %s as well', async (_what, sent, names) => {
    await using sandbox = await openSandbox();
    const { body } = await sandbox.api('POST', '/campaigns', sent);
    expect(Object.keys(body.error.details)).toEqual(expect.arrayContaining(names));
  });

  test('a body of 100 MB is refused and others are served meanwhile', async () => {
    await using sandbox = await openSandbox();
    const { port } = new URL(sandbox.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/partner/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${sandbox.key}\r\n` +
        'content-length: 100000000\r\n\r\n{"title":"',
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 400');
    expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
    socket.destroy();
  });

  test('a client that sends its headers one byte at a time does not stop others', async () => {
    await using sandbox = await openSandbox();
    const slow = Array.from({ length: 50 }, () =>
      connect(Number(new URL(sandbox.url).port), '127.0.0.1').on('error', () => undefined),
    );
    for (const socket of slow) socket.write('GET /v1/partner/jobs HTTP/1.1\r\nhos');
    expect((await sandbox.api('GET', '/jobs')).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  test('an operation of the contract that is not played yet is 501, never 404', async () => {
    await using sandbox = await openSandbox();
    const { operations } = await import('../../src/sandbox/operations/index.ts');
    for (const endpoint of allEndpoints().filter((one) => !operations.has(one.id))) {
      const path = endpoint.path.replaceAll(/:\w+/g, '1');
      const { status, body } = await sandbox.api(endpoint.method, path, endpoint.body === undefined ? undefined : {});
      expect(`${endpoint.id} ${status} ${body.error.code}`).toBe(`${endpoint.id} 501 NOT_IMPLEMENTED`);
    }
  });
});
