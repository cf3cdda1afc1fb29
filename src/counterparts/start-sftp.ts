import { type ChildProcess, execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { endChild, spawnTied } from '../temporal/dev-server/spawn-tied.ts';
import { ensurePackages, until } from './install-once.ts';

const run = promisify(execFile);

/** A separate OpenSSH server with folders for requests, results and rosters. */
export interface SftpServer {
  port: number;
  /** The folders' place on disk. */
  root: string;
  /** In the form of `ssh-keygen -lf`. */
  hostKey: string;
  privateKey: string;
  passphrase: string;
  /** Removes the user's key and ends open sessions, until the returned function is called. */
  revoke(): Promise<() => Promise<void>>;
  /** Kills the server and every session with SIGKILL, and restarts it on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const PASSPHRASE = 'sftp-test-0123456789';

/** Debian's openssh-server, installed if missing. */
export async function startSftp(): Promise<SftpServer> {
  await ensurePackages('openssh-server', 'openssh-client');
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-sftp-'));
  await chmod(folder, 0o755);
  const root = join(folder, 'acme');
  for (const name of ['requests', 'sent', 'results', 'rosters']) await mkdir(join(root, name), { recursive: true });
  await makeKey(join(folder, 'host'), '');
  await makeKey(join(folder, 'user'), PASSPHRASE);
  const port = await freePort();
  const config = await configure(folder, root, port);
  let child = await serve(config, port);
  return {
    port,
    root,
    hostKey: await fingerprint(join(folder, 'host.pub')),
    privateKey: await readFile(join(folder, 'user'), 'utf8'),
    passphrase: PASSPHRASE,
    async revoke() {
      const keys = join(folder, 'user.pub');
      await rename(keys, `${keys}.away`);
      await endSessions(child);
      return () => rename(`${keys}.away`, keys);
    },
    async restart() {
      await endAll(child);
      child = await serve(config, port);
    },
    async stop() {
      await endAll(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeKey(file: string, passphrase: string): Promise<void> {
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file]);
}

async function fingerprint(publicKey: string): Promise<string> {
  const { stdout } = await run('ssh-keygen', ['-lf', publicKey]);
  return stdout.split(' ')[1] ?? '';
}

async function configure(folder: string, root: string, port: number): Promise<string> {
  const config = join(folder, 'sshd_config');
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'user.pub')}`,
    `PidFile ${join(folder, 'pid')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'Subsystem sftp internal-sftp',
    `ForceCommand internal-sftp -d ${root}`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  return config;
}

async function serve(config: string, port: number): Promise<ChildProcess> {
  // Debian's start script creates it; without it sshd refuses to run.
  await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const { stdout } = await run('/bin/sh', ['-c', 'PATH=$PATH:/usr/sbin command -v sshd']);
  const child = spawnTied(stdout.trim(), ['-D', '-e', '-f', config], { signal: 'SIGKILL' });
  child.stdout?.resume();
  child.stderr?.resume();
  await until('sshd takes connections', () => isListening(port));
  return child;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
    socket.once('close', () => resolve(false)).once('connect', () => socket.end());
  });
}

async function endAll(child: ChildProcess): Promise<void> {
  await endSessions(child);
  await endChild(child, 'SIGKILL');
}

/** Each session has its own process. */
async function endSessions({ pid }: ChildProcess): Promise<void> {
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({ stdout: '' }));
  for (const session of stdout.split(/\s+/)) if (session !== '') process.kill(Number(session), 'SIGKILL');
}
