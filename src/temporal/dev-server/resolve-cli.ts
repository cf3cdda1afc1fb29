import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { constants as priorities, setPriority } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import envPaths from 'env-paths';
import lockfile from 'proper-lockfile';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { z } from 'zod';
import { ConnectorError, rejected } from '../../errors.ts';
import { spawnTied } from './spawn-tied.ts';

type CliSource = 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build';

export interface ResolvedCli {
  path: string;
  source: CliSource;
  /** The server's version, as `1.29.1`. */
  server: string;
  /** How long the search took, including download and build. */
  seconds: number;
}

interface ResolveCliOptions {
  /** TEMPORAL_CLI_PATH, PATH and HIREBRIDGE_CACHE_DIR are read; Go gets the whole environment. */
  env?: NodeJS.ProcessEnv;
  /** Base address of the download service. */
  downloadFrom?: string;
  /** SHA-256 of the archive; that of the pinned release if absent. */
  archiveSha256?: string;
  /** Called about once a second while the CLI is being obtained, never if it is available. */
  onProgress?: (progress: CliProgress) => void;
}

type Found = Omit<ResolvedCli, 'seconds'>;
type Search = Required<Omit<ResolveCliOptions, 'archiveSha256'>> &
  Pick<ResolveCliOptions, 'archiveSha256'> & { tried: string[] };

/**
 * SHA-256 of the release's archives, by platform and machine as the download service names them. Without an entry here
 * nothing is downloaded, and the CLI is built with Go, which verifies its modules itself.
 */
const PINNED_ARCHIVES: Readonly<Record<string, string>> = {
  'linux amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

/**
 * Finds or obtains the Temporal CLI: TEMPORAL_CLI_PATH, PATH, our cache, Temporal's download, a build with Go.
 * Processes that need it at the same time share one download or build. Throws NO_TEMPORAL_CLI with all that was tried.
 */
export async function resolveTemporalCli(options: ResolveCliOptions = {}): Promise<ResolvedCli> {
  const started = performance.now();
  const search: Search = {
    env: options.env ?? process.env,
    downloadFrom: options.downloadFrom ?? TEMPORAL_DOWNLOAD,
    ...(options.archiveSha256 === undefined ? {} : { archiveSha256: options.archiveSha256 }),
    onProgress: options.onProgress ?? (() => undefined),
    tried: [],
  };
  const found = (await fromSetting(search)) ?? (await atHand(search)) ?? (await obtain(search));
  return { ...found, seconds: Math.round(performance.now() - started) / 1000 };
}

/** The CLI if it is on this machine already; downloads and builds nothing. */
export async function findTemporalCli(): Promise<Found | undefined> {
  const { env } = process;
  const search: Search = { env, downloadFrom: TEMPORAL_DOWNLOAD, onProgress: () => undefined, tried: [] };
  return (await fromSetting(search)) ?? (await atHand(search));
}

/** A setting that does not work is an error: a search elsewhere would only hide the mistake. */
async function fromSetting({ env }: Search): Promise<Found | undefined> {
  const file = env['TEMPORAL_CLI_PATH'];
  if (file === undefined || file === '') return undefined;
  const version = await readCliVersion(file).catch((error: unknown) => {
    throw noCli(`TEMPORAL_CLI_PATH names no Temporal CLI: ${messageOf(error)}. Correct it or unset it.`, error);
  });
  if (version.isUsable) return { path: file, source: 'TEMPORAL_CLI_PATH', server: version.server };
  throw noCli(`TEMPORAL_CLI_PATH names a CLI with server ${version.server}; 1.29 or newer is needed.`);
}

async function atHand(search: Search): Promise<Found | undefined> {
  return (await fromPath(search)) ?? (await fromCache(search));
}

async function fromPath({ env, tried }: Search): Promise<Found | undefined> {
  const file = await findOnPath(env);
  if (file === undefined) {
    tried.push('PATH: no `temporal` there');
    return undefined;
  }
  try {
    const { server, isUsable } = await readCliVersion(file);
    if (isUsable) return { path: file, source: 'PATH', server };
    tried.push(`PATH: ${file} has server ${server}, 1.29 or newer is needed`);
  } catch (error) {
    tried.push(`PATH: ${messageOf(error)}`);
  }
  return undefined;
}

async function findOnPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
  for (const folder of (env['PATH'] ?? '').split(path.delimiter).filter((entry) => path.isAbsolute(entry))) {
    const file = path.join(folder, name);
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}

async function fromCache({ env, tried }: Search): Promise<Found | undefined> {
  const folder = cacheFolder(env);
  if (!(await isCached(folder))) {
    tried.push(`cache: nothing in ${folder}`);
    return undefined;
  }
  try {
    const { server } = await readCliVersion(cachedCli(folder));
    return { path: cachedCli(folder), source: 'cache', server };
  } catch (error) {
    tried.push(`cache: ${messageOf(error)}`);
    return undefined;
  }
}

/** Whether the cache has a binary. */
async function isCached(folder: string): Promise<boolean> {
  return access(cachedCli(folder)).then(
    () => true,
    () => false,
  );
}

/** The path of the cached binary, whether it exists or not. */
function cachedCli(folder: string): string {
  return path.join(folder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

async function obtain(search: Search): Promise<Found> {
  const folder = cacheFolder(search.env);
  const waiting = () => search.onProgress({ doing: 'Waiting for another process that fetches the Temporal CLI' });
  const locked = withCacheLock(folder, waiting, async () => {
    // The previous holder of the lock has probably done the work.
    const byOther = await fromCache({ ...search, tried: [] });
    return byOther ?? (await obtainInto(folder, search));
  });
  return locked.catch((error: unknown) => {
    if (error instanceof ConnectorError) throw error;
    throw noCli(`The cache folder ${folder} cannot be used: ${messageOf(error)}. Set HIREBRIDGE_CACHE_DIR.`, error);
  });
}

async function obtainInto(folder: string, search: Search): Promise<Found> {
  const { env, downloadFrom: from, archiveSha256: sha256, onProgress, tried } = search;
  const ways = {
    download: (scratch: string) => downloadCli(scratch, { from, sha256, onProgress }),
    build: (scratch: string) => buildCli(scratch, env, onProgress),
  };
  for (const source of ['download', 'build'] as const) {
    try {
      const file = await placeCli(folder, ways[source]);
      const { server } = await readCliVersion(file);
      return { path: file, source, server };
    } catch (error) {
      tried.push(`${source}: ${messageOf(error)}`);
    }
  }
  const list = tried.map((line) => `  - ${line}`).join('\n');
  throw noCli(
    `No Temporal CLI. Tried:\n${list}\nInstall it (https://docs.temporal.io/cli), install Go, set TEMPORAL_CLI_PATH, ` +
      'or set TEMPORAL_ADDRESS to use a Temporal cluster.',
  );
}

/**
 * Lets `write` fill a scratch folder and renames the file it returns into place, so that readers see the whole binary
 * or none. Removes what killed processes left behind. Call it only while holding the lock.
 */
async function placeCli(folder: string, write: (scratch: string) => Promise<string>): Promise<string> {
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

function noCli(message: string, cause?: unknown): ConnectorError {
  return rejected('NO_TEMPORAL_CLI', message, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const run = promisify(execFile);

/** The download service's answer about a release; Temporal's SDK core asks the same address. */
const Release = z.object({ archiveUrl: z.url(), fileToExtract: z.string().min(1) });

const platforms: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
const machines: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

const TEMPORAL_DOWNLOAD = 'https://temporal.download';

interface Download {
  /** Base address of the download service. */
  from: string;
  /** Of the archive; that of the pinned release if absent. */
  sha256?: string | undefined;
  onProgress: (progress: CliProgress) => void;
}

/**
 * Downloads the pinned release into `scratch` and returns the extracted binary after running it once; an archive with
 * another checksum is neither unpacked nor run. Throws with a plain reason. A closed network fails in milliseconds; a
 * network that drops packets costs the connect timeout of 3 s.
 */
async function downloadCli(scratch: string, { from, sha256, onProgress }: Download): Promise<string> {
  const platform = platforms[process.platform];
  const arch = machines[process.arch];
  if (platform === undefined || arch === undefined) throw new Error('no release for this platform');
  const pinned = sha256 ?? PINNED_ARCHIVES[`${platform} ${arch}`] ?? '';
  if (pinned === '') throw new Error(`no checksum is pinned for ${platform} ${arch}, so nothing was downloaded`);
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: 3_000 },
    headersTimeout: 10_000,
    bodyTimeout: 20_000,
  });
  try {
    const query = new URLSearchParams({ arch, platform, format: platform === 'windows' ? 'zip' : 'tar.gz' });
    const described = await fetch(`${from}/cli/v${PINNED_CLI}?${query.toString()}`, { dispatcher });
    if (!described.ok) throw new Error(`HTTP ${described.status}`);
    const release = Release.parse(await described.json());
    const archive = path.join(scratch, 'archive');
    onProgress({ doing: `Downloading the Temporal CLI ${PINNED_CLI}` });
    const download = await fetch(release.archiveUrl, { dispatcher });
    if (!download.ok || download.body === null) throw new Error(`HTTP ${download.status} for the archive`);
    const hash = createHash('sha256');
    const hashed = Readable.fromWeb(download.body).on('data', (chunk: Buffer) => hash.update(chunk));
    await pipeline(hashed, createWriteStream(archive));
    const found = hash.digest('hex');
    if (found !== pinned) throw new Error(`the archive has the SHA-256 ${found}, and ${pinned} is pinned`);
    return await extract(archive, scratch, release.fileToExtract);
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    await dispatcher.close();
  }
}

async function extract(archive: string, scratch: string, member: string): Promise<string> {
  const binary = path.join(scratch, member);
  if (!binary.startsWith(scratch + path.sep)) throw new Error('the archive names a file outside itself');
  await run('tar', ['-xf', archive, '-C', scratch, member]).catch((error: unknown) => {
    throw new Error('the archive is damaged or tar is missing', { cause: error });
  });
  await readCliVersion(binary);
  return binary;
}

/** fetch hides the cause of a failure in a chain of errors. */
function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'the download service did not describe a release';
  let deepest = error as Error & { code?: string };
  while (deepest.cause instanceof Error && deepest.code === undefined) deepest = deepest.cause as typeof deepest;
  const { code } = deepest;
  return code?.startsWith('E') || code?.startsWith('UND_') ? `${code}` : (error as Error).message;
}

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
async function buildCli(scratch: string, env: NodeJS.ProcessEnv, onProgress: OnProgress): Promise<string> {
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
    if (pid !== undefined) setPriority(pid, priorities.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already; its exit code tells how.
  }
}

/** The current work to obtain the CLI, and the number of finished packages or modules if they are counted. */
export interface CliProgress {
  doing: string;
  done?: number;
  total?: number;
}

const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;

/** Shows progress on standard error: a bar on a terminal; in a log, a line every ten seconds and for each new phase. */
export function showCliProgress(): (progress: CliProgress) => void {
  const stream = process.stderr;
  return stream.isTTY ? createBar(stream) : createLines((line) => void stream.write(`${line}\n`));
}

/** For a log, or for a terminal that another component draws on. */
export function createLines(write: (line: string) => void): (progress: CliProgress) => void {
  const started = performance.now();
  let next = 0;
  let phase = '';
  return (progress) => {
    const now = performance.now();
    if (progress.doing === phase && now < next) return;
    [phase, next] = [progress.doing, now + LINE_EVERY_MS];
    write(`${progress.doing}: ${[count(progress), `${Math.round((now - started) / 1000)} s`].join('')}`);
  };
}

/** Rewrites a single line; its last state stays on the screen. */
function createBar(stream: NodeJS.WriteStream): (progress: CliProgress) => void {
  let shown = false;
  return (progress) => {
    const { doing, done = 0, total } = progress;
    const filled = total === undefined ? 0 : Math.round((BAR_WIDTH * Math.min(done, total)) / total);
    const bar = total === undefined ? '' : `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `;
    // Moves up and clears the previous line.
    stream.write(
      `${shown ? '\u001b[1A\u001b[2K' : ''}${bar}${doing}${total === undefined ? '' : `: ${count(progress)}`}\n`,
    );
    shown = true;
  };
}

function count({ done, total }: CliProgress): string {
  if (done === undefined) return '';
  return total === undefined ? `${done} so far, ` : `${done} of ${total} packages, `;
}

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
async function readCliVersion(file: string): Promise<CliVersion> {
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
