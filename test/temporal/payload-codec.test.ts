import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startCodecServer } from '../../src/cli/encryption.ts';
import { log } from '../../src/log.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { payloadCodec } from '../../src/temporal/hire-client.ts';
import { taskQueue } from '../../src/temporal/ids.ts';
import { createWorkers } from '../../src/temporal/worker.ts';
import { addKey, type MasterKeys, openKeys } from '../../src/vault/keys.ts';
import { readable } from '../harness/histories.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { temporalForTests } from '../harness/temporal.ts';

/** A file of one key, and the keys read from it. */
async function newKeys() {
  const file = join(await scratchFolder(), 'keys');
  const ref = `file:${file}`;
  addKey(ref, '2026-11-26');
  return { ref, file, keys: openKeys(ref) as MasterKeys };
}

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const NAME = 'Eva Canary-Lind';
const noNotes = async (): Promise<void> => undefined;

test('histories hold nothing readable, go on with those of before, and need the key', async () => {
  const { keys } = await newKeys();
  const { address } = await temporalForTests();
  const temporal = await connectTemporal({ TEMPORAL_ADDRESS: address });
  onTestFinished(() => temporal.close());
  const installationId = `hb${randomUUID()}`;
  const clientWith = (known: MasterKeys | undefined) => {
    const dataConverter = { payloadCodecs: [payloadCodec(known)] };
    return new Client({ connection: temporal.connection, namespace: temporal.namespace, dataConverter });
  };
  const start = (client: Client) =>
    client.workflow.start('reconcileTenant', {
      taskQueue: taskQueue(installationId),
      workflowId: `${installationId}/${randomUUID()}`,
      args: [{ tenantId: 'acme', note: NAME }],
    });
  // Begun by a version without keys, and waiting still when the first worker with keys comes.
  const before = await start(clientWith(undefined));
  const sealed = await start(clientWith(keys));
  const workers = await createWorkers({
    connection: await temporal.nativeConnection(),
    namespace: temporal.namespace,
    installationId,
    activitiesFor: () => ({ reconcile: async () => ({ about: NAME }) }),
    cacheDir: join(tmpdir(), 'hirebridge-test-bundles'),
    stickyMs: 2_000,
    heartbeatMs: 4_000,
    shutdown: { graceMs: 0, forceMs: 1_000 },
    buildId: undefined,
    keys,
    timing: { started: () => undefined, ended: () => undefined },
    telemetry: undefined,
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  try {
    await expect(clientWith(keys).workflow.getHandle(before.workflowId).result()).resolves.toEqual({ about: NAME });
    await expect(sealed.result()).resolves.toEqual({ about: NAME });
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
  }
  const history = readable(historyToJSON(await sealed.fetchHistory()));
  expect(history).toContain('binary/encrypted');
  expect(history).not.toContain(NAME);
  const codec = await startCodecServer(keys, { token: 'a-token-of-some-length', port: 0, origins: [], note: noNotes });
  onTestFinished(() => codec.close());
  const { path } = await resolveTemporalCli();
  const shown = async (...more: string[]): Promise<string> => {
    const show = ['workflow', 'show', '--workflow-id', sealed.workflowId, '--address', address, ...more];
    return (await promisify(execFile)(path, [...show, '--namespace', temporal.namespace, '--detailed'])).stdout;
  };
  expect(await shown()).not.toContain(NAME);
  expect(await shown('--codec-endpoint', `${codec.url}/a-token-of-some-length`)).toContain(NAME);
  const refused = { code: 'KEY_MISSING', message: expect.stringContaining('HIREBRIDGE_KEYS is not set') };
  const blind = clientWith(undefined);
  await expect(blind.workflow.getHandle(sealed.workflowId).result()).rejects.toMatchObject(refused);
  const { keys: others } = await newKeys();
  await expect(clientWith(others).workflow.getHandle(sealed.workflowId).result()).rejects.toMatchObject({
    code: 'KEY_MISSING',
    message: expect.stringContaining(`has no key of that name: put its line back into`),
  });
});

test('a new first key encrypts, the old one still decrypts, and nothing is taken that was changed', async () => {
  const { ref, file, keys } = await newKeys();
  const [old] = await payloadCodec(keys).encode([payload(NAME)]);
  const { keyId } = addKey(ref, '2026-11-27');
  const [first = '', second = ''] = (await readFile(file, 'utf8')).trim().split('\n');
  await writeFile(file, `${second}\n${first}\n`);
  const codec = payloadCodec(openKeys(ref));
  const [fresh] = await codec.encode([payload(NAME)]);
  expect(Buffer.from(fresh?.metadata?.['encryption-key-id'] ?? []).toString()).toBe(keyId);
  expect(await codec.decode([old, fresh, payload('clear')] as never)).toEqual([NAME, NAME, 'clear'].map(payload));
  // A process that had read the file before it changed looks again, rather than refuse.
  expect(await payloadCodec(keys).decode([fresh] as never)).toEqual([payload(NAME)]);
  const changed = { ...fresh, data: Buffer.from(fresh?.data ?? []).reverse() };
  await expect(codec.decode([changed])).rejects.toMatchObject({ code: 'SEAL_BROKEN' });
});

test('the codec server speaks the protocol of the pages, to whoever has the token', async () => {
  const { keys } = await newKeys();
  const token = 'a-token-of-some-length';
  const noted: (readonly Payload[])[] = [];
  let takesNotes = true;
  const away = new Error('the audit trail is away');
  const logged = vi.spyOn(log, 'error').mockImplementation(() => undefined);
  onTestFinished(() => logged.mockRestore());
  const note = async (decrypted: readonly Payload[]): Promise<void> => {
    if (!takesNotes) throw away;
    noted.push(decrypted);
  };
  const server = await startCodecServer(keys, { token, port: 0, origins: ['http://pages.example'], note });
  onTestFinished(() => server.close());
  const [sealed] = await payloadCodec(keys).encode([payload({ name: NAME })]);
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const metadata = Object.entries(sealed?.metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  const body = { payloads: [{ metadata: Object.fromEntries(metadata), data: base64(sealed?.data ?? Buffer.of()) }] };
  const ask = (path: string, headers: Record<string, string> = {}, asked: object = body) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
      body: JSON.stringify(asked),
    });
  const clear = { payloads: [{ metadata: { encoding: base64(Buffer.from('json/plain')) }, data: expect.anything() }] };
  const decoded = await ask(`/${token}/decode`, { origin: 'http://pages.example' });
  expect(decoded.headers.get('access-control-allow-origin')).toBe('http://pages.example');
  const answer = (await decoded.json()) as typeof body;
  expect(answer).toEqual(clear);
  expect(JSON.parse(Buffer.from(answer.payloads[0]?.data ?? '', 'base64').toString())).toEqual({ name: NAME });
  expect(await (await ask('/decode', { authorization: `Bearer ${token}` })).json()).toEqual(answer);
  const encoded = (await (await ask(`/${token}/encode`, {}, answer)).json()) as typeof body;
  expect(JSON.stringify(encoded)).not.toContain(answer.payloads[0]?.data);
  expect(await (await ask(`/${token}/decode`, {}, encoded)).json()).toEqual(answer);
  // What was never encrypted is no secret of ours, and what is not written down is not shown.
  expect(noted.map((some) => some.length)).toEqual([1, 1, 1]);
  expect(await (await ask(`/${token}/decode`, {}, answer)).json()).toEqual(answer);
  expect(noted.at(-1)).toEqual([]);
  takesNotes = false;
  const unnoted = await ask(`/${token}/decode`);
  expect([unnoted.status, await unnoted.text()]).toEqual([
    503,
    'Nothing is shown: the audit trail cannot record it. The log says why.',
  ]);
  expect(logged.mock.calls).toEqual([[{ error: away }, expect.stringContaining('audit trail')]]);
  expect((await ask('/decode')).status).toBe(401);
  expect((await ask('/wrong/decode')).status).toBe(401);
  expect((await ask(`/${token}/decode`, {}, { payloads: 'none' })).status).toBe(400);
  const elsewhere = await ask(`/${token}/decode`, { origin: 'http://elsewhere.example' });
  expect(elsewhere.headers.get('access-control-allow-origin')).toBeNull();
  const { keys: others } = await newKeys();
  const blind = await startCodecServer(others, { token, port: 0, origins: [], note });
  onTestFinished(() => blind.close());
  const refused = await fetch(`${blind.url}/${token}/decode`, { method: 'POST', body: JSON.stringify(body) });
  expect(await refused.text()).toMatch(/^KEY_MISSING: /);
});
