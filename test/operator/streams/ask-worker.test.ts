import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import { createLogger } from '../../../src/log.ts';
import { type AnswersOptions, answerSync } from '../../../src/operator/answer-sync.ts';
import { askWorker, socketFolder } from '../../../src/operator/ask-worker.ts';
import type { StreamRequest, StreamResult } from '../../../src/operator/follow-stream.ts';
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
