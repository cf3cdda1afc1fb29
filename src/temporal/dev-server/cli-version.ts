import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The CLI we download and build; `cli/go.mod` names the same, and a test compares them. */
export const pinnedCli = '1.8.2';

export interface CliVersion {
  /** The server inside, as `1.31.2`. The CLI's own number says nothing: built from source it prints 0.0.0-DEV. */
  server: string;
  /** `preferred` has fairness in its finished form, `usable` has it at all (from 1.29), `old` lacks it. */
  fitness: 'preferred' | 'usable' | 'old';
}

/** Runs `temporal --version`; throws with a plain reason when the file is no Temporal CLI or does not run. */
export async function readCliVersion(file: string): Promise<CliVersion> {
  const { stdout } = await run(file, ['--version'], { timeout: 10_000 }).catch((error: unknown) => {
    throw new Error(`${file} does not run (${firstLine(error)})`, { cause: error });
  });
  const [, server, major, minor] = /Server ((\d+)\.(\d+)\.\d+)/.exec(stdout) ?? [];
  if (server === undefined) throw new Error(`${file} does not name a Temporal server version`);
  return { server, fitness: fitnessOf(Number(major), Number(minor)) };
}

function fitnessOf(major: number, minor: number): CliVersion['fitness'] {
  if (major > 1 || minor >= 31) return 'preferred';
  return minor >= 29 ? 'usable' : 'old';
}

function firstLine(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : (message.split('\n')[0] ?? '');
}
