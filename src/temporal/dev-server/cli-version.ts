import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

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

export interface CliVersion {
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
