import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import { createLogger } from '../../../src/log.ts';
import { type AnswersOptions, answerSync, askWorker, socketFolder } from '../../../src/operator/ask-worker.ts';
import type { StreamRequest, StreamResult } from '../../../src/operator/follow-stream.ts';
import { patience } from '../../harness/pace.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';

const REQUEST: StreamRequest = { tenantId: 'acme', stream: 'jobs', mode: 'full', rewrite: false, by: 'ann' };
const QUESTION = { version: '1', mark: 'store-a', request: REQUEST };

async function worker(follow: AnswersOptions['follow'], over: Partial<AnswersOptions> = {}) {
  const dataDir = over.dataDir ?? (await scratchFolder());
  const options = { dataDir, version: '1', mark: 'store-a', log: createLogger('test'), follow, ...over };
  const answering = await answerSync(options);
  onTestFinished(answering.close);
  return { dataDir, close: answering.close };
}

const DONE: StreamResult = { state: 'done', counts: undefined, leftOut: [] };

test('a worker of this machine is asked for a run, tells how it stands, and what came of it', async () => {
  const asked: StreamRequest[] = [];
  const { dataDir } = await worker(async (request, onLook) => {
    asked.push(request);
    onLook({ waiting: 'it is paused' });
    return DONE;
  });
  const looks: unknown[] = [];
  expect(await askWorker(dataDir, QUESTION, (look) => looks.push(look))).toEqual({ state: 'done', leftOut: [] });
  expect([asked, looks]).toEqual([[REQUEST], [{ waiting: 'it is paused' }]]);
  // Whoever may not read the store may not ask either.
  expect((await stat(socketFolder(dataDir))).mode & 0o777).toBe(0o700);
});

test('a refusal keeps its code and its action', async () => {
  const refusal = new ConnectorError({ code: 'TENANT_PAUSED', action: 'reject', message: 'It is paused.' });
  const { dataDir } = await worker(() => Promise.reject(refusal));
  await expect(askWorker(dataDir, QUESTION, () => undefined)).rejects.toMatchObject({
    code: 'TENANT_PAUSED',
    action: 'reject',
    message: 'It is paused.',
  });
});

test('no worker, one of another store or version, and what a killed one left behind take no question', async () => {
  const none = await scratchFolder();
  expect(await askWorker(none, QUESTION, () => undefined)).toBeUndefined();
  const follow = () => Promise.reject(new Error('It was asked all the same.'));
  const { dataDir } = await worker(follow);
  expect(await askWorker(dataDir, { ...QUESTION, mark: 'store-b' }, () => undefined)).toBeUndefined();
  expect(await askWorker(dataDir, { ...QUESTION, version: '2' }, () => undefined)).toBeUndefined();
  await writeFile(join(socketFolder(dataDir), '999999.sock'), '');
  expect(await askWorker(dataDir, { ...QUESTION, version: '2' }, () => undefined)).toBeUndefined();
});

test('a worker that ends in the middle is told, because the run may go on', async () => {
  let begun = (): void => undefined;
  const started = new Promise<void>((resolve) => (begun = resolve));
  const { dataDir, close } = await worker(() => {
    begun();
    return new Promise(() => undefined);
  });
  const asking = askWorker(dataDir, QUESTION, () => undefined);
  asking.catch(() => undefined);
  await started;
  await close();
  await expect(asking).rejects.toMatchObject({ code: 'WORKER_ENDED', action: 'retry' });
});

test('a worker begins although a killed one left its socket, and takes that away', async () => {
  const { dataDir, close } = await worker(async () => DONE);
  await close();
  const dead = join(socketFolder(dataDir), '999999.sock');
  const server = createServer().listen(dead);
  onTestFinished(() => void server.close());
  await worker(async () => DONE, { dataDir });
  await expect(stat(dead)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await askWorker(dataDir, QUESTION, () => undefined)).toMatchObject({ state: 'done' });
});

/** A process of its own that answers, and stands still from now on. */
async function standing(dataDir: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'answering-process.ts'), [dataDir]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

test('a worker that stands still is left for another one, and begins nothing once it wakes', async () => {
  const dataDir = await scratchFolder();
  const still = await standing(dataDir);
  const said: unknown[] = [];
  still.on('message', (message) => said.push(message));
  still.kill('SIGSTOP');
  // Only the process that stands still has a socket there: nobody took it.
  expect(await askWorker(dataDir, QUESTION, () => undefined)).toBeUndefined();
  // It wakes, finds the question, and answers the next one: so it is over with the first.
  still.kill('SIGCONT');
  expect(await askWorker(dataDir, { ...QUESTION, mark: 'store-b' }, () => undefined)).toBeUndefined();
  expect(said).toEqual([]);
});

test('a worker that stands still after it has begun is not waited for for ever', async () => {
  const dataDir = await scratchFolder();
  const still = await standing(dataDir);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const looked = Promise.withResolvers<void>();
  const asking = askWorker(dataDir, QUESTION, () => looked.resolve());
  asking.catch(() => undefined);
  await looked.promise;
  still.kill('SIGSTOP');
  await vi.advanceTimersByTimeAsync(10_000);
  await expect(asking).rejects.toMatchObject({ code: 'WORKER_SILENT', action: 'retry' });
});

test('the following ends once nobody listens any more', async () => {
  const aborted = Promise.withResolvers<void>();
  const { dataDir } = await worker((_request, onLook, signal) => {
    signal.addEventListener('abort', () => aborted.resolve());
    onLook({});
    return new Promise(() => undefined);
  });
  const client = createConnection(join(socketFolder(dataDir), `${process.pid}.sock`));
  client.write(`${JSON.stringify(QUESTION)}\n{"go":true}\n`);
  let heard = '';
  client.on('data', (chunk) => (heard += String(chunk)));
  await vi.waitUntil(() => heard.includes('look'), { timeout: patience(30_000) });
  client.destroy();
  await expect(aborted.promise).resolves.toBeUndefined();
});
