import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  type CliProgress,
  createLines,
  PINNED_CLI,
  resolveTemporalCli,
} from '../../src/temporal/dev-server/resolve-cli.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

const run = promisify(execFile);
/** Refused at once, like a closed network. */
const NOWHERE = 'http://127.0.0.1:1';

let folder: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  folder = await scratchFolder();
  await mkdir(path.join(folder, 'bin'));
  env = { PATH: `${folder}/bin:/usr/bin:/bin`, HIREBRIDGE_CACHE_DIR: path.join(folder, 'cache'), HOME: folder };
  await fakeGo('echo no modules here >&2; exit 1');
});

async function executable(file: string, body: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
  return file;
}

const cliBody = (server: string) => `echo "temporal version 1.2.3 (Server ${server}, UI 2.0.0)"`;
const fakeCli = (file: string, server: string) => executable(path.join(folder, file), cliBody(server));

/** A `go` that lists three packages, notes each build, does `before`, and builds a CLI whose server is 1.31.9. */
async function fakeGo(before: string): Promise<void> {
  const list = '[ "$1" = list ] && { echo a/one; echo a/two; echo a/three; exit 0; }';
  const find = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done';
  const write = `printf '#!/bin/sh\\n%s\\n' '${cliBody('1.31.9')}' > "$out"`;
  const log = `echo "$$" >> ${folder}/go-runs`;
  await executable(path.join(folder, 'bin/go'), [list, log, find, before, write].join('\n'));
}

async function goRuns(): Promise<string[]> {
  const text = await readFile(path.join(folder, 'go-runs'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

async function cacheContents(): Promise<string[]> {
  const [one = ''] = await readdir(path.join(folder, 'cache'));
  return readdir(path.join(folder, 'cache', one));
}

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Temporal's download service: describes the release, then serves its archive, whose checksum is also given. */
async function downloadService(archive: Buffer): Promise<{ url: string; asked: string[]; archiveSha256: string }> {
  const asked: string[] = [];
  const url = await listen((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/archive') return void response.end(archive);
    response.end(JSON.stringify({ archiveUrl: `${url}/archive`, fileToExtract: 'temporal' }));
  });
  return { url, asked, archiveSha256: createHash('sha256').update(archive).digest('hex') };
}

async function archiveOf(server: string): Promise<Buffer> {
  await fakeCli('release/temporal', server);
  await run('tar', ['-czf', 'release.tgz', '-C', 'release', 'temporal'], { cwd: folder });
  return readFile(path.join(folder, 'release.tgz'));
}

function resolveInProcess() {
  const script = path.join(import.meta.dirname, 'in-a-process.ts');
  const child = spawn(process.execPath, [script, 'resolve', NOWHERE], { env });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk.toString()));
  const ended = new Promise<typeof printed>((resolve) => child.once('close', () => resolve(printed)));
  return { child, ended };
}

test('takes the CLI that TEMPORAL_CLI_PATH names before the one on PATH', async () => {
  await fakeCli('bin/temporal', '1.31.0');
  const chosen = await fakeCli('mine/temporal', '1.30.1');
  const found = await resolveTemporalCli({ env: { ...env, TEMPORAL_CLI_PATH: chosen }, downloadFrom: NOWHERE });
  expect(found).toMatchObject({ path: chosen, source: 'TEMPORAL_CLI_PATH', server: '1.30.1' });
});

test.each([
  ['is not there', '/nowhere/temporal', /ENOENT/],
  ['is no Temporal CLI', '/bin/echo', /does not name a Temporal server/],
])('refuses a TEMPORAL_CLI_PATH that %s rather than looking elsewhere', async (_what, file, reason) => {
  await fakeCli('bin/temporal', '1.31.0');
  await expect(resolveTemporalCli({ env: { ...env, TEMPORAL_CLI_PATH: file } })).rejects.toMatchObject({
    code: 'NO_TEMPORAL_CLI',
    message: expect.stringMatching(reason),
  });
});

test('takes the CLI on PATH when its server has fairness', async () => {
  const onPath = await fakeCli('bin/temporal', '1.31.0');
  const found = await resolveTemporalCli({ env, downloadFrom: NOWHERE });
  expect(found).toMatchObject({ path: onPath, source: 'PATH' });
  expect(await goRuns()).toEqual([]);
});

test('passes over a CLI on PATH whose server is too old, and says so when nothing else works', async () => {
  await fakeCli('bin/temporal', '1.28.4');
  const failure = resolveTemporalCli({ env, downloadFrom: NOWHERE });
  await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/has server 1\.28\.4/) });
});

test('downloads the pinned release once, then finds it in the cache', async () => {
  const { url, asked, archiveSha256 } = await downloadService(await archiveOf('1.29.1'));
  const found = await resolveTemporalCli({ env, downloadFrom: url, archiveSha256 });
  expect(found).toMatchObject({ source: 'download', server: '1.29.1' });
  expect(asked).toEqual([expect.stringContaining(`/cli/v${PINNED_CLI}?arch=`), '/archive']);
  expect(await cacheContents()).toEqual(['temporal']);

  expect(await resolveTemporalCli({ env, downloadFrom: url })).toMatchObject({ source: 'cache', path: found.path });
  expect(asked).toHaveLength(2);
});

test('runs nothing of an archive that is not the pinned one, and says so', async () => {
  await executable(path.join(folder, 'release/temporal'), `touch ${folder}/was-run\n${cliBody('1.29.1')}`);
  await run('tar', ['-czf', 'release.tgz', '-C', 'release', 'temporal'], { cwd: folder });
  const { url, asked, archiveSha256 } = await downloadService(await readFile(path.join(folder, 'release.tgz')));
  await expect(resolveTemporalCli({ env, downloadFrom: url })).rejects.toMatchObject({
    code: 'NO_TEMPORAL_CLI',
    message: expect.stringMatching(/download: the archive has the SHA-256 [0-9a-f]{64}, and [0-9a-f]{64} is pinned/),
  });
  expect(asked).toContain('/archive');
  expect(await readdir(folder)).not.toContain('was-run');
  expect(await cacheContents()).toEqual([]);
  // The same one, were it the pinned one.
  expect(await resolveTemporalCli({ env, downloadFrom: url, archiveSha256 })).toMatchObject({ source: 'download' });
});

test('downloads nothing where no checksum is pinned', async () => {
  const { url, asked } = await downloadService(await archiveOf('1.29.1'));
  await fakeGo('');
  expect(await resolveTemporalCli({ env, downloadFrom: url, archiveSha256: '' })).toMatchObject({ source: 'build' });
  expect(asked).toEqual([]);
});

test('builds with Go when the network is closed, which costs no waiting', async () => {
  await fakeGo('');
  const lines: string[] = [];
  const found = await resolveTemporalCli({
    env,
    downloadFrom: NOWHERE,
    onProgress: createLines((line) => lines.push(line)),
  });
  expect(found).toMatchObject({ source: 'build', server: '1.31.9' });
  expect(found.seconds).toBeLessThan(5);
  expect(lines).toEqual([
    expect.stringMatching(/^Fetching the Go modules of the Temporal CLI [\d.]+: 0 so far, \d s$/),
    expect.stringMatching(/^Building the Temporal CLI [\d.]+ with Go, once: 0 of 3 packages, \d s$/),
  ]);
  expect(await cacheContents()).toEqual(['temporal']);
});

test('says how many packages of how many are built, then that it links; downloads do not count', async () => {
  await fakeGo('echo "go: downloading x v1" >&2; echo a/one >&2; sleep 2; printf "a/two\\na/three\\n" >&2; sleep 2');
  const seen: CliProgress[] = [];
  await resolveTemporalCli({ env, downloadFrom: NOWHERE, onProgress: (progress) => seen.push(progress) });
  expect(seen).toContainEqual({ doing: expect.stringMatching(/^Building/), done: 1, total: 3 });
  expect(seen.at(-1)).toEqual({ doing: expect.stringMatching(/^Linking/), done: 3, total: 3 });
});

test('builds with Go when the downloaded archive is damaged', async () => {
  await fakeGo('');
  const whole = await archiveOf('1.29.1');
  const { url, archiveSha256 } = await downloadService(whole.subarray(0, whole.length / 2));
  expect(await resolveTemporalCli({ env, downloadFrom: url, archiveSha256 })).toMatchObject({ source: 'build' });
});

test('refuses an archive member outside the archive', async () => {
  const answer = () => JSON.stringify({ archiveUrl: `${url}/archive`, fileToExtract: '../../temporal' });
  const url = await listen((_request, response) => void response.end(answer()));
  const archiveSha256 = createHash('sha256').update(answer()).digest('hex');
  const failure = resolveTemporalCli({ env, downloadFrom: url, archiveSha256 });
  await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/outside itself/) });
});

test('names everything it tried, and what to do, when nothing works', async () => {
  const refusing = await listen((_request, response) => void response.writeHead(404).end());
  const error: unknown = await resolveTemporalCli({ env, downloadFrom: refusing }).catch((thrown: unknown) => thrown);
  const { message } = error as Error;
  for (const part of ['PATH: no', 'cache: nothing', 'download: HTTP 404', 'build: go build ended with 1: no modules']) {
    expect(message).toContain(part);
  }
  expect(message).toMatch(/install Go.*TEMPORAL_CLI_PATH.*TEMPORAL_ADDRESS/);
  expect(await cacheContents()).toEqual([]);
});

test('two processes that need the CLI at once share one build', async () => {
  await fakeGo('sleep 2');
  const both = await Promise.all([resolveInProcess().ended, resolveInProcess().ended]);
  const sources = both.map(({ out }) => (JSON.parse(out) as { source: string }).source);
  expect(sources.toSorted()).toEqual(['build', 'cache']);
  expect(both.map(({ err }) => err).join('')).toMatch(/Waiting for another process/);
  expect(await goRuns()).toHaveLength(1);
});

test('a killed builder takes its Go along and leaves no half binary; the next process builds', async () => {
  await fakeGo('printf half > "$out"; sleep 60');
  const first = resolveInProcess();
  await expect.poll(goRuns).toHaveLength(1);
  const [go = ''] = await goRuns();
  first.child.kill('SIGKILL');
  await expect.poll(() => isAlive(Number(go))).toBe(false);
  expect(await cacheContents()).not.toContain('temporal');

  await fakeGo('');
  const found = await resolveTemporalCli({ env, downloadFrom: NOWHERE });
  expect(found).toMatchObject({ source: 'build', server: '1.31.9' });
  expect(await cacheContents()).toEqual(['temporal']);
});

test('the pinned version is the one in the Go module', async () => {
  const goMod = path.join(import.meta.dirname, '../../src/temporal/dev-server/cli/go.mod');
  expect(await readFile(goMod, 'utf8')).toContain(`github.com/temporalio/cli v${PINNED_CLI} `);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
