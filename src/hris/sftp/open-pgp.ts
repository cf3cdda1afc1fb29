import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectorError } from '../../errors.ts';
import type { SftpOptions } from './options.ts';

/** OpenPGP through gpg of GnuPG 2.2 or later; each call uses a keyring of its own, which is removed afterwards. */
export async function encrypt(bytes: Uint8Array, publicKey: string, signal: AbortSignal): Promise<Buffer> {
  return withKeyring(async (keyring) => {
    const key = join(keyring, 'customer.asc');
    await writeFile(key, publicKey);
    return gpg(keyring, ['--trust-model', 'always', '--recipient-file', key, '--encrypt'], { input: bytes, signal });
  });
}

interface Decryption extends Pick<SftpOptions, 'decryptWith' | 'decryptPassphrase'> {
  /** A short file may decompress to a very long one: it is cut there, and the result is one byte longer. */
  mostBytes: number;
}

export async function decrypt(bytes: Uint8Array, how: Decryption, signal: AbortSignal): Promise<Buffer> {
  const { decryptWith, decryptPassphrase = '', mostBytes } = how;
  if (decryptWith === undefined)
    throw refused('A file of the customer is encrypted, but hris.decryptWith names no private key.');
  return withKeyring(async (keyring) => {
    const unlock = ['--pinentry-mode', 'loopback', '--passphrase-fd', '3'];
    const secret = { passphrase: decryptPassphrase, signal };
    await gpg(keyring, [...unlock, '--import'], { ...secret, input: Buffer.from(decryptWith) });
    return gpg(keyring, [...unlock, '--decrypt'], { ...secret, input: bytes, mostBytes });
  });
}

async function withKeyring<T>(work: (keyring: string) => Promise<T>): Promise<T> {
  const keyring = await makeKeyring();
  try {
    return await work(keyring);
  } finally {
    // Otherwise the agent that gpg starts for private keys would stay.
    await run('gpgconf', ['--homedir', keyring, '--kill', 'all'], {}).catch(() => undefined);
    await dropKeyring(keyring);
  }
}

interface Feed {
  input?: Uint8Array;
  /** Passed on descriptor 3, where no other process sees it. */
  passphrase?: string;
  signal?: AbortSignal;
  /** Maximum length of its output. */
  mostBytes?: number;
}

async function gpg(keyring: string, args: readonly string[], feed: Feed): Promise<Buffer> {
  const { code, output, said } = await run('gpg', ['--homedir', keyring, '--batch', '--no-tty', ...args], feed);
  if (code === 0 || output.length > (feed.mostBytes ?? output.length)) return output;
  const asked = args.at(-1) === '--encrypt' ? 'encrypt to the key behind hris.encryptTo' : 'decrypt a file';
  throw refused(`gpg cannot ${asked}. It said: ${reasonIn(said)}.`);
}

/** gpg's last line, without names and addresses of keys. */
function reasonIn(said: string): string {
  const lines = said.split('\n').filter((line) => line.startsWith('gpg: '));
  return (lines.at(-1) ?? 'nothing').replaceAll(/"[^"]*"|<[^>]*>/g, '…').slice(0, 200);
}

async function run(
  program: string,
  args: readonly string[],
  { input, passphrase, signal, mostBytes = Number.POSITIVE_INFINITY }: Feed,
): Promise<{ code: number | null; output: Buffer; said: string }> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], ...(signal && { signal }) });
  const output: Buffer[] = [];
  let room = mostBytes + 1;
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output.push(bytes.subarray(0, room));
    room -= Math.min(room, bytes.length);
    if (room === 0) child.kill();
  });
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(explainSpawn(error, program)));
    child.on('close', resolve);
  });
  feedInto(child.stdin, input);
  feedInto(child.stdio[3], passphrase);
  return { code: await ended, output: Buffer.concat(output), said };
}

/** A program that ends early stops reading: its exit code says why. */
function feedInto(stream: unknown, text: Uint8Array | string | undefined): void {
  const into = stream as NodeJS.WritableStream;
  into.on('error', () => undefined);
  if (text === undefined) into.end();
  else into.end(text);
}

function explainSpawn(error: Error & { code?: string }, program: string): Error {
  if (error.code !== 'ENOENT') return error;
  return refused(`The program ${program} is not installed here. Install GnuPG, version 2.2 or later, on each worker.`);
}

function refused(message: string): ConnectorError {
  return new ConnectorError({ code: 'HRIS_OPENPGP', action: 'reauthorize', message });
}

const NAME = /^hirebridge-gpg-(\d+)-\w{6}$/;
/** No call of gpg takes this long; the process may run in another container. */
const OLD_MS = 3_600_000;

/** Keyrings of this process. */
const inUse = new Set<string>();

/** Makes a folder for one call of gpg, after removing those that killed processes left. Pass it to `dropKeyring`. */
async function makeKeyring(): Promise<string> {
  await sweepKeyrings();
  const keyring = await mkdtemp(join(tmpdir(), `hirebridge-gpg-${process.pid}-`));
  inUse.add(keyring);
  return keyring;
}

async function dropKeyring(keyring: string): Promise<void> {
  inUse.delete(keyring);
  await rm(keyring, { recursive: true, force: true });
}

/** Removes keyrings of dead processes: private keys must not remain, and a killed process cannot remove them. */
export async function sweepKeyrings(): Promise<void> {
  const folder = tmpdir();
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid] = NAME.exec(name) ?? [];
    const keyring = join(folder, name);
    if (pid !== undefined && !inUse.has(keyring) && (await isLeft(keyring, Number(pid)))) await dropKeyring(keyring);
  }
}

async function isLeft(keyring: string, pid: number): Promise<boolean> {
  const { uid, mtimeMs } = await stat(keyring).catch(() => ({ uid: -1, mtimeMs: 0 }));
  if (uid !== process.getuid?.()) return false;
  return pid === process.pid || !isAlive(pid) || Date.now() - mtimeMs > OLD_MS;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
