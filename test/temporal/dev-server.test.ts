import { spawn } from 'node:child_process';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { type DevServer, type DevServerOptions, startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { searchAttributes } from '../../src/temporal/ids.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { temporalForTests } from '../harness/temporal.ts';

let cliPath: string;
let folder: string;

beforeEach(async () => {
  ({ cliPath } = await temporalForTests());
  folder = await scratchFolder();
});

async function start(options: Partial<DevServerOptions> = {}): Promise<DevServer> {
  const server = await startDevServer({ cliPath, headless: true, ...options });
  onTestFinished(() => server.stop());
  return server;
}

async function clientOf(server: DevServer): Promise<Client> {
  const connection = await Connection.connect({ address: server.address });
  onTestFinished(() => connection.close());
  return new Client({ connection });
}

async function fakeCli(body: string): Promise<string> {
  const file = path.join(folder, 'temporal');
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
  return file;
}

test('takes a workflow with our search attributes and a fairness key as soon as it is started', async () => {
  const client = await clientOf(await start());
  const pairs = Object.entries(searchAttributes).map(([name]) => ({
    key: defineSearchAttributeKey(name, 'KEYWORD'),
    value: 'x',
  }));
  const handle = await client.workflow.start('hire', {
    workflowId: 'first',
    taskQueue: 'nobody',
    typedSearchAttributes: new TypedSearchAttributes(pairs),
    priority: { fairnessKey: 'tenant-1' },
  });
  const { searchAttributes: stored } = await handle.describe();
  expect(stored).toMatchObject({ TenantId: ['x'], Flow: ['x'], Stage: ['x'] });
});

test('keeps workflows across a restart at the same address with the same database file', async () => {
  const options = { dbFile: path.join(folder, 'data', 'temporal.db'), port: await freePort() };
  const first = await start(options);
  const client = await clientOf(first);
  await client.workflow.start('hire', { workflowId: 'lasting', taskQueue: 'nobody' });
  await first.stop();
  await first.ended;

  const second = await start(options);
  expect(second.address).toBe(first.address);
  const described = await client.workflow.getHandle('lasting').describe();
  expect(described.status.name).toBe('RUNNING');
});

test('serves the web interface on loopback unless headless', async () => {
  const server = await start({ headless: false });
  expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await expect.poll(async () => (await fetch(server.uiUrl ?? '').catch(() => undefined))?.status).toBe(200);
});

test('makes the namespace that was asked for', async () => {
  const server = await start({ namespace: 'people' });
  const { connection } = await clientOf(server);
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'people' });
  expect(namespaceInfo?.name).toBe('people');
});

test('two servers started at once get ports of their own', async () => {
  const [one, other] = await Promise.all([start(), start()]);
  expect(one.address).not.toBe(other.address);
});

test('refuses a port that another server has, instead of taking that one for its own', async () => {
  const { address } = await start();
  const port = Number(address.split(':')[1]);
  await expect(startDevServer({ cliPath, port })).rejects.toMatchObject({
    code: 'TEMPORAL_NOT_STARTED',
    message: expect.stringMatching(`${address}.*EADDRINUSE`),
  });
});

test('tries another port when somebody took the first one in between', async () => {
  const mark = path.join(folder, 'tried');
  const losing = `if [ ! -e ${mark} ]; then touch ${mark}; echo "listen tcp: bind: address already in use"; exit 1; fi`;
  const server = await start({ cliPath: await fakeCli(`${losing}\nexec ${cliPath} "$@"`) });
  expect((await readFile(mark)).length).toBe(0);
  await clientOf(server);
});

test('shows what the server printed when it does not start', async () => {
  const broken = await fakeCli('echo "database is malformed" >&2; exit 3');
  await expect(startDevServer({ cliPath: broken })).rejects.toMatchObject({
    code: 'TEMPORAL_NOT_STARTED',
    message: expect.stringMatching(/exit code 3[\s\S]*database is malformed/),
  });
});

test('writes the log of the server to a file when asked, and quotes it when it does not start', async () => {
  const broken = await fakeCli('echo "schema too new" >&2; exit 4');
  const logFile = path.join(folder, 'logs', 'temporal.log');
  await expect(startDevServer({ cliPath: broken, logFile })).rejects.toThrow(/schema too new/);
  expect(await readFile(logFile, 'utf8')).toContain('schema too new');
  // Often the first to make the data directory, whose files are nobody else's to read.
  expect((await stat(path.dirname(logFile))).mode & 0o777).toBe(0o700);
});

test('says how the server ended when it ends by itself', async () => {
  const server = await start();
  process.kill(server.pid, 'SIGKILL');
  expect(await server.ended).toBe('signal SIGKILL');
  await server.stop();
});

test('ends when the process that started it is killed with SIGKILL', async () => {
  const script = path.join(import.meta.dirname, 'in-a-process.ts');
  const owner = spawn(process.execPath, [script, 'serve', cliPath], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve) =>
    owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  const { address } = JSON.parse(line) as DevServer;
  expect(await listens(address)).toBe(true);
  owner.kill('SIGKILL');
  await expect.poll(() => listens(address)).toBe(false);
});

/** By trying to take its port: a connection could be answered by a server that is already on its way out. */
async function listens(address: string): Promise<boolean> {
  const probe = createServer();
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    probe.once('error', () => resolve(true));
    probe.listen(Number(port), host, () => probe.close(() => resolve(false)));
  });
}
