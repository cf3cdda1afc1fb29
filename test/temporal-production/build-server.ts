import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import envPaths from 'env-paths';

const MODULE = join(import.meta.dirname, 'server');
const TARGETS = { server: 'go.temporal.io/server/cmd/server', sqlTool: 'go.temporal.io/server/cmd/tools/sql' };

/** Binaries of one version of the server. */
export type ServerBinaries = Record<keyof typeof TARGETS, string>;

/**
 * Builds Temporal's server and its schema tool from the Go module beside this file into the user's cache: minutes with
 * an empty Go cache, seconds afterwards. @throws Error where Go is missing or the build fails
 */
export async function buildServer(): Promise<ServerBinaries> {
  const version = /go\.temporal\.io\/server v(\S+)/.exec(await readFile(join(MODULE, 'go.mod'), 'utf8'))?.[1];
  const base = process.env['HIREBRIDGE_CACHE_DIR'] ?? envPaths('hirebridge', { suffix: '' }).cache;
  const folder = join(base, `temporal-server-${version}-${process.platform}-${process.arch}`);
  const built = { server: '', sqlTool: '' };
  for (const name of ['server', 'sqlTool'] as const) {
    built[name] = join(folder, name);
    process.stderr.write(`go build ${TARGETS[name]} ${version}\n`);
    await goBuild(built[name], TARGETS[name]);
  }
  return built;
}

async function goBuild(output: string, target: string): Promise<void> {
  const args = ['build', '-tags', 'disable_grpc_modules', '-ldflags', '-s -w', '-o', output, target];
  // -mod=readonly: what is built is what go.sum names, or nothing.
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
  const go = spawn('go', args, { cwd: MODULE, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise<number | null>((resolve, reject) => {
    go.once('error', () => reject(new Error('No Go toolchain on PATH. Install Go 1.25 or newer: https://go.dev/dl')));
    go.once('close', resolve);
  });
  if (code !== 0) throw new Error(`go build ${target} ended with ${code}; its own lines above say why.`);
}
