import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Client, type SFTPWrapper } from 'ssh2';
import { assertPublicAddress, publicLookup } from '../../http/public-address.ts';
import type { WriteOptions } from '../port.ts';
import type { SftpOptions } from './options.ts';
import { explainSftpError, statusOf, wrongHostKey } from './sftp-errors.ts';

export interface RemoteFile {
  name: string;
  size: number;
  /** By the server's clock. */
  changedAt: number;
}

/** The customer's folders. Every failure is a ConnectorError. */
export interface SftpSession {
  list(folder: string, signal: AbortSignal): Promise<RemoteFile[]>;
  read(path: string, signal: AbortSignal): Promise<Buffer>;
  /**
   * Puts a whole file under its name, or nothing: written under another name and renamed. False where the name is taken
   * already; nobody's file is ever written over.
   */
  publish(path: string, bytes: Uint8Array, write: Pick<WriteOptions, 'signal' | 'beforeSend'>): Promise<boolean>;
  exists(path: string, signal: AbortSignal): Promise<boolean>;
  /** One that is not there is no error. */
  remove(path: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** A status of the protocol. */
const NO_SUCH_FILE = 2;
const CONNECT_MS = 10_000;
/** Servers end idle sessions without a word. */
const IDLE_MS = 30_000;

/** What is known of a call while it is under way. */
interface Attempt {
  what: string;
  sent?: boolean;
  /** Thrown by `beforeSend`; it comes out as it is. */
  forbidden?: unknown;
}

interface Open {
  client: Client;
  sftp: SFTPWrapper;
  /** Rejects when the connection is over: ssh2 leaves some calls without an answer then. */
  over: Promise<never>;
}

/** One connection, made when it is needed and ended when it is not. */
export function openSession(options: SftpOptions): SftpSession {
  let opened: Promise<Open> | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;

  function forget(attempt: Promise<Open>): void {
    if (opened === attempt) opened = undefined;
  }

  function open(): Promise<Open> {
    if (opened !== undefined) return opened;
    const attempt = connectTo(options, () => forget(attempt));
    attempt.catch(() => forget(attempt));
    opened = attempt;
    return attempt;
  }

  async function end(): Promise<void> {
    const last = opened;
    opened = undefined;
    (await last?.catch(() => undefined))?.client.end();
  }

  async function use<T>(signal: AbortSignal, attempt: Attempt, work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> {
    clearTimeout(idle);
    users += 1;
    try {
      signal.throwIfAborted();
      return await untilAborted(
        signal,
        open().then(({ sftp, over }) => Promise.race([work(sftp), over])),
      );
    } catch (error) {
      if (error === attempt.forbidden) throw error;
      const { what, sent = false } = attempt;
      throw explainSftpError(error, { what, sent, stopped: signal.aborted });
    } finally {
      users -= 1;
      if (users === 0) idle = setTimeout(() => void end(), IDLE_MS).unref();
    }
  }

  return {
    list: (folder, signal) => use(signal, { what: `Listing ${folder}` }, (sftp) => list(sftp, folder)),
    read: (path, signal) =>
      use(signal, { what: `Reading ${path}` }, (sftp) => settle<Buffer>((done) => sftp.readFile(path, done))),
    publish: (path, bytes, write) => {
      const attempt: Attempt = { what: `Writing ${path}` };
      return use(write.signal, attempt, (sftp) => publish(sftp, { ...write, path, bytes, attempt }));
    },
    exists: (path, signal) => use(signal, { what: `Looking for ${path}` }, (sftp) => exists(sftp, path)),
    remove: (path, signal) => use(signal, { what: `Removing ${path}` }, (sftp) => remove(sftp, path)),
    async close() {
      clearTimeout(idle);
      await end();
    },
  };
}

async function list(sftp: SFTPWrapper, folder: string): Promise<RemoteFile[]> {
  const entries = await settle<Parameters<Parameters<SFTPWrapper['readdir']>[1]>[1]>((done) =>
    sftp.readdir(folder, done),
  );
  return entries
    .filter(({ attrs }) => !attrs.isDirectory())
    .map(({ filename, attrs }) => ({ name: filename, size: attrs.size, changedAt: attrs.mtime * 1_000 }));
}

interface Publication extends Pick<WriteOptions, 'signal' | 'beforeSend'> {
  path: string;
  bytes: Uint8Array;
  attempt: Attempt;
}

/**
 * A plain rename refuses a name that is taken (OpenSSH links the file there); its extension posix-rename would write
 * over it.
 */
async function publish(sftp: SFTPWrapper, { path, bytes, attempt, ...write }: Publication): Promise<boolean> {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  await settle<void>((done) => sftp.writeFile(part, Buffer.from(bytes), { flag: 'wx' }, done));
  try {
    allow(write, attempt);
    await settle<void>((done) => sftp.rename(part, path, done));
    return true;
  } catch (error) {
    const isTaken = statusOf(error) !== undefined && (await exists(sftp, path).catch(() => false));
    await remove(sftp, part).catch(() => undefined);
    if (isTaken) return false;
    throw error;
  }
}

/** From here on the name may appear, whatever becomes of the connection. */
function allow({ signal, beforeSend }: Pick<WriteOptions, 'signal' | 'beforeSend'>, attempt: Attempt): void {
  signal.throwIfAborted();
  try {
    beforeSend();
  } catch (error) {
    attempt.forbidden = error;
    throw error;
  }
  attempt.sent = true;
}

async function remove(sftp: SFTPWrapper, path: string): Promise<void> {
  await settle<void>((done) => sftp.unlink(path, done)).catch(unlessAbsent);
}

function exists(sftp: SFTPWrapper, path: string): Promise<boolean> {
  return settle<unknown>((done) => sftp.stat(path, done)).then(() => true, unlessAbsent);
}

function unlessAbsent(error: unknown): false {
  if (statusOf(error) !== NO_SUCH_FILE) throw error;
  return false;
}

/** A call of ssh2 as a promise; with the connection gone, it throws at once. */
function settle<T>(call: (done: (error: Error | null | undefined, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, result) => (error === undefined || error === null ? resolve(result) : reject(error))),
  );
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** `ended` is called when a connection that worked is over. */
async function connectTo(options: SftpOptions, ended: () => void): Promise<Open> {
  const { host, port, user, privateKey, passphrase, hostKeys } = options;
  const client = new Client();
  let shown = '';
  const over = new Promise<never>((_, reject) => {
    client.on('close', () => {
      ended();
      reject(new Error('the connection ended'));
    });
  });
  over.catch(() => undefined);
  const ready = new Promise<void>((resolve, reject) => client.on('ready', resolve).on('error', reject));
  try {
    client.connect({
      sock: connectSocket(options),
      host,
      port,
      username: user,
      privateKey,
      ...(passphrase === undefined ? {} : { passphrase }),
      hostVerifier: (key: Buffer) => {
        shown = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
        return hostKeys.includes(shown);
      },
      readyTimeout: CONNECT_MS,
      keepaliveInterval: 10_000,
    });
    await Promise.race([ready, over]);
    return { client, over, sftp: await Promise.race([settle<SFTPWrapper>((done) => client.sftp(done)), over]) };
  } catch (error) {
    client.destroy();
    if (shown !== '' && !hostKeys.includes(shown)) throw wrongHostKey(options, shown);
    throw error;
  }
}

function connectSocket({ host, port, allowPrivateAddress }: SftpOptions): Socket {
  if (allowPrivateAddress) return connect({ host, port });
  assertPublicAddress(new URL(`ssh://${host.includes(':') ? `[${host}]` : host}`));
  return connect({ host, port, lookup: publicLookup });
}
