import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { CliProgress } from './cli-progress.ts';
import { PINNED_CLI } from './cli-version.ts';
import { spawnTied } from './spawn-tied.ts';

type OnProgress = (progress: CliProgress) => void;

const moduleFolder = path.join(import.meta.dirname, 'cli');
const TARGET = 'github.com/temporalio/cli/cmd/temporal';
/** gRPC transports of storage clients: 120 packages that a dev server never calls. */
const tags = ['-tags', 'disable_grpc_modules'];
const SAY_EVERY_MS = 1_000;

/**
 * Builds the pinned CLI from its Go module into `scratch` and returns the binary. Takes minutes with an empty Go cache,
 * so it reports its progress in packages once a second. Throws with a plain reason.
 */
export async function buildCli(scratch: string, env: NodeJS.ProcessEnv, onProgress: OnProgress): Promise<string> {
  const binary = path.join(scratch, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  // -mod=readonly: builds exactly what go.sum names, or fails.
  const goEnv = { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
  const total = await countStale(goEnv, onProgress);
  const version = `-X github.com/temporalio/cli/temporalcli.Version=${PINNED_CLI}`;
  const args = ['build', '-v', ...tags, '-ldflags', `-s -w ${version}`, '-o', binary, TARGET];
  await runGo(args, goEnv, (printed) => {
    // -v prints a package's path when it begins; downloads are announced by a sentence with blanks.
    const done = printed.filter((line) => !line.includes(' ')).length;
    const doing = done < total ? 'Building the Temporal CLI' : 'Linking the Temporal CLI';
    onProgress({ doing: `${doing} ${PINNED_CLI} with Go, once`, done, total });
  });
  return binary;
}

/** The number of packages that Go still has to compile. Finding out downloads missing modules. */
async function countStale(env: NodeJS.ProcessEnv, onProgress: OnProgress): Promise<number> {
  const stale = ['list', '-deps', ...tags, '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', TARGET];
  const packages = await runGo(stale, env, (printed) => {
    const done = printed.filter((line) => line.startsWith('go: downloading')).length;
    onProgress({ doing: `Fetching the Go modules of the Temporal CLI ${PINNED_CLI}`, done });
  });
  return packages.length;
}

/** Runs Go and returns its output's lines; `report` gets the lines of standard error once a second. */
async function runGo(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  report: (printed: readonly string[]) => void,
): Promise<string[]> {
  const go = spawnTied('go', args, { cwd: moduleFolder, env });
  yieldProcessor(go.pid);
  const output: string[] = [];
  const printed: string[] = [];
  if (go.stdout !== null) createInterface(go.stdout).on('line', (line) => void (line !== '' && output.push(line)));
  if (go.stderr !== null) createInterface(go.stderr).on('line', (line) => void printed.push(line));
  report(printed);
  const timer = setInterval(() => report(printed), SAY_EVERY_MS);
  const code = await new Promise<number | null | Error>((resolve) => {
    go.once('error', resolve);
    go.once('close', resolve);
  });
  clearInterval(timer);
  if (code === 0) return output;
  if (code === 127 || code instanceof Error)
    throw new Error('no Go toolchain on PATH (1.21 or newer; https://go.dev/dl)');
  throw new Error(`go ${args[0]} ended with ${code ?? 'a signal'}: ${printed.slice(-3).join(' / ')}`);
}

/** Lowers the build's priority: tests run beside it and have deadlines. */
function yieldProcessor(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already; its exit code tells how.
  }
}
