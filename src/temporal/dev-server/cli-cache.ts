import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import envPaths from 'env-paths';
import lockfile from 'proper-lockfile';

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

const run = promisify(execFile);

/**
 * The CLI version that we download and build; `cli/go.mod` names the same, and a test compares them. Its server 1.29
 * has all features used here (fairness, priority, schedules, search attributes), and a third fewer packages to compile
 * than 1.31, whose autoscaled workers bring the clients of Kubernetes, ECS, Lambda and Cloud Run.
 */
export const PINNED_CLI = '1.5.1';

/**
 * SHA-256 of the release's archives, by platform and machine as the download service names them. Without an entry here
 * nothing is downloaded, and the CLI is built with Go, which verifies its modules itself.
 */
export const PINNED_ARCHIVES: Readonly<Record<string, string>> = {
  'linux amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

interface CliVersion {
  /** The server's version, as `1.29.1`. The CLI's own number is useless: `go install` leaves 0.0.0-DEV. */
  server: string;
  /** True from server 1.29, which brought fairness. */
  isUsable: boolean;
}

/** Runs `temporal --version`; throws with a plain reason if the file is not a Temporal CLI or does not run. */
export async function readCliVersion(file: string): Promise<CliVersion> {
  const { stdout } = await run(file, ['--version'], { timeout: 10_000 }).catch((error: unknown) => {
    throw new Error(`${file} does not run (${firstLine(error)})`, { cause: error });
  });
  const [, server, major, minor] = /Server ((\d+)\.(\d+)\.\d+)/.exec(stdout) ?? [];
  if (server === undefined) throw new Error(`${file} does not name a Temporal server version`);
  return { server, isUsable: Number(major) > 1 || Number(minor) >= 29 };
}

function firstLine(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : (message.split('\n')[0] ?? '');
}
