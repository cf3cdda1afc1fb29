import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type OpenStoreOptions, openStore, type Store } from '../../src/store/open-store.ts';
import { createDatabase } from '../harness/postgres.ts';

/** Both databases of the store; every store test runs on each. */
export const kinds = ['sqlite', 'postgres'] as const;

/** Address of a fresh, empty store that is gone after the test. */
export async function freshStoreUrl(kind: (typeof kinds)[number]): Promise<string> {
  if (kind === 'postgres') return (await createDatabase()).url;
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-store-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return `sqlite:${join(dir, 'store.db')}`;
}

/** A fresh store; with a second opening of it, as another process would have. */
export async function freshStore(
  kind: (typeof kinds)[number],
  options: OpenStoreOptions = {},
): Promise<{ store: Store; other: Store }> {
  const url = await freshStoreUrl(kind);
  // One after the other: SQLite waits for a lock without letting this thread's other connection go on.
  const store = await openStore(url, options);
  const other = await openStore(url, options);
  onTestFinished(async () => {
    await Promise.all([store.close(), other.close()]);
  });
  return { store, other };
}
