import path from 'node:path';
import { pinnedCli } from './cli-version.ts';
import { spawnTied } from './spawn-tied.ts';

const moduleFolder = path.join(import.meta.dirname, 'cli');

/**
 * Builds the pinned CLI from its Go module into `scratch` and returns the binary. About five minutes on two cores with an
 * empty Go cache, so a line of progress comes every five seconds. Throws with a plain reason.
 */
export async function buildCli(
  scratch: string,
  env: NodeJS.ProcessEnv,
  onProgress: (line: string) => void,
): Promise<string> {
  const binary = path.join(scratch, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  const version = `-X github.com/temporalio/cli/internal/temporalcli.Version=${pinnedCli}`;
  const target = 'github.com/temporalio/cli/cmd/temporal';
  const go = spawnTied('go', ['build', '-ldflags', `-s -w ${version}`, '-o', binary, target], {
    cwd: moduleFolder,
    // -mod=readonly: what is built is what go.sum names, or nothing.
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' },
  });
  const started = performance.now();
  let printed = '';
  go.stdout?.resume();
  go.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-2_000);
  });
  const say = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    const doing = printed.trim().split('\n').at(-1) ?? '';
    const detail = doing === '' ? 'compiling' : doing;
    onProgress(`Building the Temporal CLI ${pinnedCli} with Go, once: ${seconds} s (${detail})`);
  };
  say();
  const timer = setInterval(say, 5_000);
  const code = await new Promise<number | null | Error>((resolve) => {
    go.once('error', resolve);
    go.once('exit', resolve);
  });
  clearInterval(timer);
  if (code === 0) return binary;
  if (code === 127 || code instanceof Error)
    throw new Error('no Go toolchain on PATH (1.21 or newer; https://go.dev/dl)');
  throw new Error(`go build ended with ${code ?? 'a signal'}: ${printed.trim().split('\n').slice(-3).join(' / ')}`);
}
