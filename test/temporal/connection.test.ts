import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { checkSearchAttributes } from '../../src/temporal/check-search-attributes.ts';
import { connectTemporal, temporalSettings } from '../../src/temporal/connection.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { temporalForTests } from '../harness/temporal.ts';

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

test('says within seconds that nothing listens at a wrong address', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const started = performance.now();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address })).rejects.toMatchObject({
    code: 'UNREACHABLE',
    action: 'retry',
    message: expect.stringContaining(address),
  });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('says within seconds that something listens which is not Temporal', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const started = performance.now();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address })).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('names a missing namespace and the command that creates it', async () => {
  const { address } = await temporalForTests();
  await expect(connectTemporal({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'people' })).rejects.toMatchObject({
    code: 'TEMPORAL_NAMESPACE_MISSING',
    message: expect.stringContaining(`namespace create --address ${address} --namespace people`),
  });
});

test('names missing search attributes, and the command it shows creates them', async () => {
  const { address, cliPath } = await temporalForTests();
  const namespace = `bare-${crypto.randomUUID()}`;
  await run(cliPath, ['operator', 'namespace', 'create', '--address', address, '--namespace', namespace]);
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());

  await expect.poll(() => codeOf(checkSearchAttributes(connection, namespace)), { timeout: 20_000 }).toBe('MISSING');
  const error = (await checkSearchAttributes(connection, namespace).catch((thrown: unknown) => thrown)) as Error;
  const command = /Create them: temporal (.*)$/.exec(error.message)?.[1] ?? '';
  await run(cliPath, command.split(' '));
  await expect.poll(() => codeOf(checkSearchAttributes(connection, namespace)), { timeout: 20_000 }).toBe('fine');
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
