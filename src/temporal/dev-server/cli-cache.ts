import { randomUUID } from 'node:crypto';
import { access, chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import envPaths from 'env-paths';
import lockfile from 'proper-lockfile';
import { PINNED_CLI } from './cli-version.ts';

/** The folder for obtained binaries: the user's cache directory, or HIREBRIDGE_CACHE_DIR. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['HIREBRIDGE_CACHE_DIR'] ?? envPaths('hirebridge', { suffix: '' }).cache;
  return path.join(base, `temporal-cli-${PINNED_CLI}-${process.platform}-${process.arch}`);
}

/** The path of the cached binary, whether it exists or not. */
export function cachedCli(folder: string): string {
  return path.join(folder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

/** Runs `work` while no other process does so in `folder`. Calls `onWait` every half second until it gets the lock. */
export async function withCacheLock<Result>(
  folder: string,
  onWait: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(folder, { recursive: true });
  const release = await acquire(folder, onWait);
  try {
    return await work();
  } finally {
    await release().catch(() => undefined);
  }
}

async function acquire(folder: string, onWait: () => void): Promise<() => Promise<void>> {
  for (;;) {
    try {
      return await lockfile.lock(folder, {
        stale: 10_000,
        update: 2_000,
        // After a laptop wakes from sleep, another process may have the lock. Both then finish: the rename is atomic.
        onCompromised: () => undefined,
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
      onWait();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/**
 * Lets `write` fill a scratch folder and renames the file it returns into place, so that readers see the whole binary
 * or none. Removes what killed processes left behind. Call it only while holding the lock.
 */
export async function placeCli(folder: string, write: (scratch: string) => Promise<string>): Promise<string> {
  const left = (await readdir(folder)).filter((name) => name.startsWith('partial-'));
  await Promise.all(left.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
  const scratch = path.join(folder, `partial-${randomUUID()}`);
  await mkdir(scratch);
  try {
    const written = await write(scratch);
    await chmod(written, 0o755);
    await rename(written, cachedCli(folder));
    return cachedCli(folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Whether the cache has a binary. */
export async function isCached(folder: string): Promise<boolean> {
  return access(cachedCli(folder)).then(
    () => true,
    () => false,
  );
}
