import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { readTogether } from '../../src/hris/read-many.ts';
import { createReadyFiles } from '../../src/hris/sftp/ready-files.ts';
import type { SftpOptions, SftpSession } from '../../src/hris/sftp/session.ts';

const file = { name: 'people.csv', size: 5, changedAt: 1 };

/** A folder whose files come when it is said, or not once their reader has left. */
function slowFolder() {
  const reads: { signal: AbortSignal; come: () => void }[] = [];
  const read: SftpSession['read'] = (_path, _most, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('its reader has left')));
      reads.push({ signal, come: () => resolve(Buffer.from('id\n1\n')) });
    });
  const files = createReadyFiles({ read } as SftpSession, { delimiter: ',' } as SftpOptions);
  return { reads, read: (signal: AbortSignal) => files.read('out', file, signal) };
}

test('employees read together are read in the context of none of those who asked', async () => {
  const asking = new AsyncLocalStorage<string>();
  const contexts: unknown[] = [];
  const read = readTogether(async (ids) => {
    contexts.push(asking.getStore());
    return new Map(ids.map((id) => [id, { ref: { id }, fields: { id } }]));
  });
  const { signal } = new AbortController();
  const found = await Promise.all(['1', '2'].map((id) => asking.run(`activity ${id}`, () => read(id, signal))));
  expect(found).toMatchObject([{ fields: { id: '1' } }, { fields: { id: '2' } }]);
  expect(contexts).toEqual([undefined]);
});

test('whoever asked first for a file and leaves does not take it from those who wait as well', async () => {
  const { reads, read } = slowFolder();
  const first = new AbortController();
  const both = Promise.allSettled([read(first.signal), read(new AbortController().signal)]);
  first.abort();
  reads[0]?.come();
  expect(await both).toMatchObject([{ status: 'rejected', reason: { code: 'STOPPED' } }, { status: 'fulfilled' }]);
  expect(reads).toHaveLength(1);
});

test('once all have left a file is no longer read, and whoever comes then has it read anew', async () => {
  const { reads, read } = slowFolder();
  const all = new AbortController();
  const left = Promise.allSettled([read(all.signal), read(all.signal)]);
  all.abort();
  await left;
  expect(reads[0]?.signal.aborted).toBe(true);
  const next = read(new AbortController().signal);
  reads[1]?.come();
  expect(await next).toBeDefined();
});
