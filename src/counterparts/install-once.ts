import { type ChildProcess, execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rejected } from '../errors.ts';
import { cacheFolder, withCacheLock } from '../temporal/dev-server/resolve-cli.ts';
import { spawnTied, type TiedOptions } from '../temporal/dev-server/spawn-tied.ts';

const run = promisify(execFile);

/**
 * A folder of this name in the user's cache, filled by `install` the first time; concurrent processes share one
 * installation. What a killed installation left behind is replaced.
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const base = dirname(cacheFolder(process.env));
  const [folder, mark] = [join(base, name), join(base, `${name}.complete`)];
  const isThere = () => succeeds(access(mark));
  if (await isThere()) return folder;
  await withCacheLock(
    `${folder}.lock`,
    () => undefined,
    async () => {
      if (await isThere()) return;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await install(folder);
      await writeFile(mark, '');
    },
  );
  return folder;
}

/** Exact versions of PyPI packages in their own environment; returns the folder of their commands. */
export async function installPython(name: string, requirements: readonly string[]): Promise<string> {
  const folder = await installOnce(name, async (place) => {
    const make = () => run('python3', ['-m', 'venv', place]);
    await make().catch(async () => {
      await ensurePackages('python3', 'python3-venv');
      await make();
    });
    await run(join(place, 'bin', 'pip'), ['install', '--quiet', '--no-deps', ...requirements]);
    await run(join(place, 'bin', 'pip'), ['check']);
  });
  return join(folder, 'bin');
}

/** Starts a server that ends with this process, and waits until it answers; fails with its output if it ends before. */
export async function serveUntilAnswers(
  command: string,
  args: readonly string[],
  url: string,
  options: TiedOptions = {},
): Promise<ChildProcess> {
  const child = spawnTied(command, args, options);
  let said = '';
  const listen = (chunk: Buffer): void => {
    said = `${said}${String(chunk)}`.slice(-2_000);
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  await until(`${command} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${said}`);
    // Read the answer: if the server closes the connection with an unread one, our process ends (undici's issue 5360).
    return succeeds(fetch(url).then((answer) => answer.arrayBuffer()));
  });
  child.stdout?.off('data', listen).resume();
  child.stderr?.off('data', listen).resume();
  return child;
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** Resolves to undefined once the output fits the pattern; to the output, or an error's text, if the program ends. */
export function untilSays(child: ChildProcess, pattern: RegExp): Promise<string | undefined> {
  return new Promise((resolve) => {
    let printed = '';
    const read = (chunk: Buffer) => {
      printed += chunk.toString();
      if (!pattern.test(printed)) return;
      child.stderr?.off('data', read).resume();
      resolve(undefined);
    };
    child.stdout?.resume();
    child.stderr?.on('data', read);
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code) => resolve(`exit code ${code}: ${printed.trim().slice(-600)}`));
  });
}

/** Polls until `met` returns a value other than false or undefined; fails with what was last seen. */
export async function until<T>(
  what: string,
  met: () => Promise<T | false | undefined>,
  { timeoutMs = 60_000, everyMs = 100 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await met();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await pause(everyMs);
  }
}

const QUIETLY = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 };

let last: Promise<unknown> = Promise.resolve();

/**
 * Installs Debian packages that are missing, one call after the other, as apt-get locks its lists; says which where
 * there is no apt-get, or no right to use it.
 */
export function ensurePackages(...names: string[]): Promise<void> {
  const ensured = last.then(() => installMissing(names));
  last = ensured.catch(() => undefined);
  return ensured;
}

async function installMissing(names: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) if (!(await isInstalled(name))) missing.push(name);
  if (missing.length === 0) return;
  try {
    await run('apt-get', ['update', '-q'], QUIETLY);
    await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], QUIETLY);
  } catch (cause) {
    throw rejected(
      'PACKAGES_MISSING',
      `apt-get could not install ${missing.join(' and ')}. Install what is missing, then start again.`,
      { cause },
    );
  }
}

async function isInstalled(name: string): Promise<boolean> {
  return run('dpkg-query', ['-W', '-f', '${Status}', name]).then(
    ({ stdout }) => stdout.startsWith('install ok installed'),
    () => false,
  );
}
