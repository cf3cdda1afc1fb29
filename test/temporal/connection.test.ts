import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  createServer as createHttp2Server,
  createSecureServer,
  connect as http2Connect,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { freePort } from '../../src/free-port.ts';
import { checkSearchAttributes, connectTemporal, temporalSettings } from '../../src/temporal/connection.ts';
import { createHireClient } from '../../src/temporal/hire-client.ts';
import { startSync } from '../../src/temporal/schedules.ts';
import { startFaultProxy } from '../harness/fault-proxy.ts';
import { unlessStalled } from '../harness/pace.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { trustedPairs } from '../hris/tls-proxy.ts';

const run = promisify(execFile);

async function profileFile(text: string): Promise<string> {
  const file = path.join(await scratchFolder(), 'temporal.toml');
  await writeFile(file, text);
  return file;
}

test('connects to the server that TEMPORAL_ADDRESS names, for clients and for workers', async () => {
  const { address } = await temporalForTests();
  const temporal = await connectTemporal({ TEMPORAL_ADDRESS: address });
  onTestFinished(() => temporal.close());
  expect(temporal).toMatchObject({ address, namespace: 'default' });
  const native = await temporal.nativeConnection();
  expect(await temporal.nativeConnection()).toBe(native);
  const { namespaceInfo } = await native.workflowService.describeNamespace({ namespace: 'default' });
  expect(namespaceInfo?.name).toBe('default');
});

test('reads address, namespace and key from the profile file, and the environment wins over it', async () => {
  const file = await profileFile('[profile.prod]\naddress = "one:7233"\nnamespace = "people"\napi_key = "k"\n');
  const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' };
  expect(temporalSettings(env)).toMatchObject({ address: 'one:7233', namespace: 'people', options: { apiKey: 'k' } });
  expect(temporalSettings({ ...env, TEMPORAL_ADDRESS: 'two:7233' }).address).toBe('two:7233');
});

test('an environment of files ends lines, and a key that no request can carry is not shown', () => {
  const env = { TEMPORAL_ADDRESS: 'one:7233\n', TEMPORAL_NAMESPACE: 'people\r\n', TEMPORAL_API_KEY: 'hushed\n' };
  const options = { apiKey: 'hushed' };
  expect(temporalSettings(env)).toMatchObject({ address: 'one:7233', namespace: 'people', options });
  const settings = () => temporalSettings({ ...env, TEMPORAL_API_KEY: 'hushed\nhushed' });
  expect(settings).toThrow(/the API key has a line break/);
  expect(settings).not.toThrow(/hushed/);
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test('names no address when nothing does, so that the embedded server is used', () => {
  expect(temporalSettings({})).toMatchObject({ address: undefined, namespace: 'default' });
});

test('reads a client certificate from the TEMPORAL_TLS variables', () => {
  const env = { TEMPORAL_ADDRESS: 'a:1', TEMPORAL_TLS_CLIENT_CERT_DATA: 'cert', TEMPORAL_TLS_CLIENT_KEY_DATA: 'key' };
  const { options } = temporalSettings(env);
  expect(options.tls).toMatchObject({ clientCertPair: { crt: bytes('cert'), key: bytes('key') } });
});

test.each([
  ['a profile file that is not there', { TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' }, /does not exist/],
  ['a profile that the file lacks', { TEMPORAL_PROFILE: 'prod', HOME: '/nowhere' }, /prod/],
])('refuses %s', (_what, env, reason) => {
  const refusal = expect.objectContaining({ code: 'TEMPORAL_CONFIG_INVALID', message: expect.stringMatching(reason) });
  expect(() => temporalSettings(env)).toThrow(refusal);
});

test('says within seconds that nothing listens at a wrong address', unlessStalled, async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const started = performance.now();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address })).rejects.toMatchObject({
    code: 'UNREACHABLE',
    action: 'retry',
    message: expect.stringContaining(address),
  });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('asks a server that is away for ten minutes every few seconds, and so is back as soon as it', async () => {
  const { address } = await temporalForTests();
  const proxy = await startFaultProxy(Number(address.split(':')[1]));
  const temporal = await connectTemporal({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
  onTestFinished(async () => {
    vi.useRealTimers();
    await temporal.close();
    await proxy.close();
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  proxy.refuse();
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      void temporal.trouble();
      vi.advanceTimersByTime(1_000);
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    }
  };
  await pass(540);
  const before = proxy.taken();
  await pass(60);
  expect(proxy.taken() - before).toBeGreaterThan(10);
});

test('says within seconds that something listens which is not Temporal', unlessStalled, async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const started = performance.now();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address })).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(performance.now() - started).toBeLessThan(10_000);
});

function passOn(near: ServerHttp2Stream, far: ClientHttp2Session, headers: IncomingHttpHeaders): void {
  const { ':scheme': _scheme, ...passed } = headers;
  const onward = far.request(passed).on('error', () => near.close());
  let trailers = {};
  onward.on('response', (told) => near.respond(told, { waitForTrailers: true }));
  onward.on('trailers', (told) => (trailers = told));
  near.on('wantTrailers', () => near.sendTrailers(trailers));
  near.pipe(onward).pipe(near);
}

/** Before a real server: takes these API keys from clients that show one of these certificates. */
async function guardedTemporal(
  takes: { keys: string[]; names: string[] },
  own: Awaited<ReturnType<typeof trustedPairs>>['right'],
): Promise<string> {
  const { address } = await temporalForTests();
  const far = http2Connect(`http://${address}`);
  const guard = createSecureServer({ ...own, requestCert: true, rejectUnauthorized: true });
  guard.on('stream', (near, headers) => {
    const { authorization = '' } = headers;
    const name = (near.session?.socket as TLSSocket | undefined)?.getPeerCertificate().subject.CN;
    near.on('error', () => undefined);
    if (!takes.keys.some((key) => authorization === `Bearer ${key}`) || !takes.names.includes(String(name))) {
      near.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
      return;
    }
    const { authorization: _key, ...passed } = headers;
    passOn(near, far, passed);
  });
  guard.listen(0, '127.0.0.1');
  await once(guard, 'listening');
  onTestFinished(() => {
    far.destroy();
    guard.close();
  });
  return `localhost:${(guard.address() as AddressInfo).port}`;
}

test('another API key and another certificate: the former until it ends, the next from the next start', async () => {
  const takes = { keys: ['former'], names: ['localhost'] };
  const { right, wrong, authority } = await trustedPairs();
  const address = await guardedTemporal(takes, right);
  const connects = async (key: string, { cert, key: own }: typeof right): Promise<string> => {
    const temporal = await connectTemporal({
      TEMPORAL_ADDRESS: address,
      TEMPORAL_API_KEY: key,
      TEMPORAL_TLS_SERVER_CA_CERT_DATA: authority,
      TEMPORAL_TLS_CLIENT_CERT_DATA: String(cert),
      TEMPORAL_TLS_CLIENT_KEY_DATA: String(own),
    }).catch((error: { code: string }) => error.code);
    if (typeof temporal === 'string') return temporal;
    const trouble = await temporal.trouble();
    await temporal.close();
    return trouble ?? 'answers';
  };
  expect(await connects('former', right)).toBe('answers');
  expect(await connects('next', right)).toBe('TEMPORAL_REFUSED');
  Object.assign(takes, { keys: ['former', 'next'], names: ['localhost', 'elsewhere.example'] });
  expect([await connects('former', right), await connects('next', wrong)]).toEqual(['answers', 'answers']);
  Object.assign(takes, { keys: ['next'], names: ['elsewhere.example'] });
  expect([await connects('former', wrong), await connects('next', right)]).toEqual([
    'TEMPORAL_REFUSED',
    'TEMPORAL_REFUSED',
  ]);
  expect(await connects('next', wrong)).toBe('answers');
});

test('names a missing namespace and the command that creates it', async () => {
  const { address } = await temporalForTests();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'people' })).rejects.toMatchObject({
    code: 'TEMPORAL_NAMESPACE_MISSING',
    message: expect.stringContaining(`namespace create --address ${address} --namespace people`),
  });
});

/** A field of a protocol buffer: bytes of less than 128. */
function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

const FAILURE_TYPE = 'type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure';
const failure = Buffer.concat([field(1, Buffer.from(FAILURE_TYPE)), field(2, field(1, Buffer.from('default')))]);
const namespaceNotFound = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': '5',
  'grpc-message': 'Namespace default is not found.',
  'grpc-status-details-bin': Buffer.concat([Buffer.from([8, 5]), field(3, failure)]).toString('base64'),
};

/** Before a real server: says this many times that it knows no namespace, as one with a slow database does. */
async function forgetfulTemporal(): Promise<{ address: string; forget(times: number): void }> {
  const { address } = await temporalForTests();
  const far = http2Connect(`http://${address}`);
  let left = 0;
  const proxy = createHttp2Server();
  proxy.on('stream', (near, headers) => {
    near.on('error', () => undefined);
    const isAsked = /DescribeNamespace|GetSystemInfo/.test(String(headers[':path']));
    if (isAsked || left === 0) return passOn(near, far, headers);
    left -= 1;
    near.respond(namespaceNotFound, { endStream: true });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    far.destroy();
    proxy.close();
  });
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    forget: (times) => void (left = times),
  };
}

test('a busy server that does not find its own namespace is asked again, and explained if that goes on', async () => {
  const server = await forgetfulTemporal();
  const connection = await connectTemporal({ TEMPORAL_ADDRESS: server.address });
  onTestFinished(() => connection.close());
  const hires = createHireClient(connection, crypto.randomUUID(), readConfig());
  server.forget(2);
  const run = await startSync(hires, { tenantId: 'acme', stream: 'candidates' });
  await run.terminate();
  server.forget(1_000);
  const error: unknown = await run.describe().catch((thrown: unknown) => thrown);
  expect(connection.explain(error)).toMatchObject({
    code: 'UNREACHABLE',
    action: 'retry',
    message: expect.stringMatching(/namespace default any more.*too slowly/),
  });
  const own = new Error('ours');
  expect(connection.explain(own)).toBe(own);
});

test('names missing search attributes, and the command it shows creates them', async () => {
  const { address, cliPath } = await temporalForTests();
  const namespace = `bare-${crypto.randomUUID()}`;
  await run(cliPath, ['operator', 'namespace', 'create', '--address', address, '--namespace', namespace]);
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());

  await expect.poll(() => codeOf(checkSearchAttributes(connection, namespace))).toBe('MISSING');
  const error = (await checkSearchAttributes(connection, namespace).catch((thrown: unknown) => thrown)) as Error;
  const command = /Create them: temporal (.*)$/.exec(error.message)?.[1] ?? '';
  await run(cliPath, command.split(' '));
  await expect.poll(() => codeOf(checkSearchAttributes(connection, namespace))).toBe('fine');
});

test('a namespace that was made anew without search attributes is trouble, also to doctor', async () => {
  const { address, cliPath } = await temporalForTests();
  const namespace = `bare-${crypto.randomUUID()}`;
  await run(cliPath, ['operator', 'namespace', 'create', '--address', address, '--namespace', namespace]);
  const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const temporal = await vi.waitUntil(() => connectTemporal(env).catch(() => undefined), { timeout: 30_000 });
  onTestFinished(() => temporal.close());
  await expect.poll(() => temporal.trouble()).toMatch(/TenantId is missing.* Create them: temporal operator/);
  const dir = await scratchFolder();
  const doctor = () => runCommand(['doctor', '--tenants', dir, '--data', path.join(dir, 'data')], env);
  const told = await doctor();
  expect(told.code).toBe(2);
  expect(told.stdout).toMatch(/wrong +temporal +.*TenantId is missing/);

  const command = /Create them: temporal (.*)$/.exec((await temporal.trouble()) ?? '')?.[1] ?? '';
  await run(cliPath, command.split(' '));
  await expect.poll(() => temporal.trouble()).toBe(undefined);
  expect((await doctor()).stdout).toMatch(/good +temporal /);
});

test('is content with the embedded server', async () => {
  const { address } = await temporalForTests();
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  expect(await codeOf(checkSearchAttributes(connection, 'default'))).toBe('fine');
});

/** A new namespace and a new attribute take the server a moment, during which it answers other errors. */
async function codeOf(check: Promise<void>): Promise<string> {
  return check.then(
    () => 'fine',
    (error: { code?: unknown }) => (error.code === 'SEARCH_ATTRIBUTES_MISSING' ? 'MISSING' : String(error.code)),
  );
}
