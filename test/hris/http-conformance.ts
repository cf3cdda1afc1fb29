import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { type HttpFault, type HttpProxy, startHttpProxy } from './http-proxy.ts';
import { created, type HrisProfile, refusal, signal, write } from './profile.ts';

/** An HRIS behind HTTP, as the cases about the wire need it. */
export interface HttpHrisUnderTest {
  profile: HrisProfile;
  /** Where the HRIS itself listens. */
  url: string;
  open(changes: { url: string }): Promise<HrisConnection>;
  /** The request that makes the employee. */
  isCreate: HttpFault['on'];
  count(): Promise<number>;
  stop(): Promise<void>;
}

/** What every adapter over HTTP owes when the wire, a proxy or a login page comes between. */
export function describeHttpHris(name: string, start: () => Promise<HttpHrisUnderTest>): void {
  describe(`${name} over a bad wire`, () => {
    let hris: HttpHrisUnderTest;
    let proxy: HttpProxy;
    let adapter: HrisConnection;
    beforeAll(async () => {
      hris = await start();
      proxy = await startHttpProxy(hris.url);
      adapter = await hris.open({ url: proxy.url });
      // Whatever the adapter does once, a login for example, is done before anything is armed.
      expect(await adapter.probe(signal)).toMatchObject({ ok: true });
    });
    afterAll(async () => {
      await adapter?.close();
      await proxy?.close();
      await hris?.stop();
    });

    const create = (tag: string, reference: string) =>
      refusal(adapter.employees.create(hris.profile.employee(tag), reference, write));

    test('answer lost after create: unknown, then found by the reference, and never made twice', async () => {
      const before = await hris.count();
      const struck = proxy.strike({ kind: 'answer-lost', on: hris.isCreate });
      expect(await create('lost', '27:1')).toMatchObject({ action: 'unknown' });
      expect(await struck).toBeLessThan(300);
      expect(await hris.count()).toBe(before + 1);
      await expect
        .poll(() => adapter.employees.find({ by: 'reference', value: '27:1' }, signal), patience())
        .toMatchObject({ kind: 'one', by: 'reference' });
      expect(await create('lost', '27:1')).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
      expect(await hris.count()).toBe(before + 1);
    });

    test('the connection dies before create arrives: unknown, and nothing is there', async () => {
      const before = await hris.count();
      const struck = proxy.strike({ kind: 'reset-before', on: hris.isCreate });
      expect(await create('reset', '27:2')).toMatchObject({ action: 'unknown' });
      expect(await struck).toBe(0);
      expect(await hris.count()).toBe(before);
      created(await adapter.employees.create(hris.profile.employee('reset'), '27:2', write));
    });

    test('executed late: unknown, and the reference tells it apart once it is there', async () => {
      const struck = proxy.strike({ kind: 'executed-late', on: hris.isCreate, ms: 300 });
      expect(await create('late', '27:3')).toMatchObject({ action: 'unknown' });
      expect(await struck).toBeLessThan(300);
      await expect
        .poll(() => adapter.employees.find({ by: 'reference', value: '27:3' }, signal), patience())
        .toMatchObject({ kind: 'one', by: 'reference' });
    });

    test.each([
      ['an HTML login page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Log in</html>' }],
      ['a redirect elsewhere', { status: 302, headers: { location: 'https://elsewhere.example/login' } }],
    ])('%s instead of an answer: no employee is believed, and the reason is told', async (_what, answer) => {
      const before = await hris.count();
      const struck = proxy.strike({ kind: 'answer', on: () => true, answer });
      const refused = await refusal(adapter.employees.find({ by: 'email', value: 'nobody@example.org' }, signal));
      expect(await struck).toBe(0);
      expect(refused.code).toMatch(/^HRIS_/);
      expect(refused.message).toMatch(/hris\.url|base URL/);
      expect(await hris.count()).toBe(before);
    });

    test('throttled: the wait that the HRIS asks for is handed on', async () => {
      const answer = { status: 429, headers: { 'retry-after': '7' } };
      void proxy.strike({ kind: 'answer', on: () => true, answer });
      const error = await adapter.employees
        .find({ by: 'number', value: '1' }, signal)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ action: 'throttle', retryAfterMs: 7_000 });
    });

    test('overloaded: a read is repeated, a create is unknown', async () => {
      void proxy.strike({ kind: 'answer', on: () => true, answer: { status: 502, body: 'Bad gateway' } });
      expect(await refusal(adapter.employees.find({ by: 'number', value: '1' }, signal))).toMatchObject({
        action: 'retry',
      });
      void proxy.strike({ kind: 'answer', on: hris.isCreate, answer: { status: 502, body: 'Bad gateway' } });
      expect(await create('overloaded', '27:4')).toMatchObject({ action: 'unknown' });
    });

    test('a server whose certificate names somebody else is not spoken to', async () => {
      const impostor = await startImpostor();
      const wrong = await hris.open({ url: impostor.url });
      expect(await wrong.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_UNREACHABLE' } });
      expect(impostor.asked()).toBe(0);
      await wrong.close();
      await impostor.close();
    });

    function patience() {
      return { interval: 50, timeout: adapter.capabilities.readLagMs + 10_000 };
    }
  });
}

/** Speaks TLS with a certificate of its own making. */
async function startImpostor() {
  let asked = 0;
  const server = createTlsServer(await makeCertificate(), (_request, response) => {
    asked += 1;
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** For a name that is not the one it is asked by, and signed by nobody. */
async function makeCertificate(): Promise<{ key: Buffer; cert: Buffer }> {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=elsewhere.example', '-days', '1'];
  const files = ['-keyout', key, '-out', cert];
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files]);
  const pair = { key: await readFile(key), cert: await readFile(cert) };
  await rm(folder, { recursive: true, force: true });
  return pair;
}
