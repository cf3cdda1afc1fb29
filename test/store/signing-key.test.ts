import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { scratchFolder } from '../harness/scratch-folder.ts';

const MODULE = new URL('../../src/store/signing-key.ts', import.meta.url).href;

test('containers that begin at once in one folder, each as process 1, sign with the same key', async () => {
  // Threads have one process id, like the first processes of containers.
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { openSigner } = await import(workerData.module);
    Atomics.add(workerData.ready, 0, 1);
    while (Atomics.load(workerData.ready, 0) < workerData.all);
    const open = (folder) => {
      try {
        return openSigner(folder).keyId;
      } catch (error) {
        return String(error);
      }
    };
    parentPort.postMessage(workerData.folders.map(open));`;
  const folder = await scratchFolder();
  const folders = Array.from({ length: 100 }, (_, nth) => join(folder, String(nth)));
  const ready = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { module: MODULE, folders, ready, all: 2 };
  const code = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const open = () =>
    new Promise<string[]>((resolve, reject) =>
      new Worker(code, { workerData }).on('message', resolve).on('error', reject),
    );
  const [one, other] = await Promise.all([open(), open()]);
  expect(one).toEqual(other);
});
