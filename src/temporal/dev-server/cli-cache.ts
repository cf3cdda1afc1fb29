import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import envPaths from 'env-paths';
import lockfile from 'proper-lockfile';

/** The folder for obtained binaries: the user's cache directory, or HIREBRIDGE_CACHE_DIR. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['HIREBRIDGE_CACHE_DIR'] ?? envPaths('hirebridge', { suffix: '' }).cache;
  return path.join(base, `temporal-cli-${PINNED_CLI}-${process.platform}-${process.arch}`);
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

const run = promisify(execFile);

/**
 * The CLI version that we download and build; `cli/go.mod` names the same, and a test compares them. Its server 1.29
 * has all features used here (fairness, priority, schedules, search attributes), and a third fewer packages to compile
 * than 1.31, whose autoscaled workers bring the clients of Kubernetes, ECS, Lambda and Cloud Run.
 */
export const PINNED_CLI = '1.5.1';

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
