import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Client, SFTPWrapper } from 'ssh2';
import { z } from 'zod';
import { ConnectorError, type ErrorAction, isConnectorError, rejected } from '../../errors.ts';
import { assertPublicAddress, publicLookup } from '../../http/pool.ts';
import { type Attempt, allow } from '../attempt.ts';
import { columnName, defaultColumns, duration, employeeUrl, field } from '../option-types.ts';
import type { WriteOptions } from '../port.ts';
import { unlessAborted } from '../read-many.ts';

const folder = z.string().regex(/^[^\0]*[^\0/]$/, 'expected a folder on the server, without a slash at its end');
const fingerprint = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'expected a fingerprint as ssh-keygen -lf prints it: SHA256:...');

/** The options beside `kind: sftp` and `connection` in a tenant file. */
export const sftpOptions = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(22),
    user: z.string().min(1),
    /** Fingerprint of the server's key; several while it is being replaced. */
    hostKey: z.union([fingerprint, z.array(fingerprint).min(1)]),
    /** References to secrets: `env:NAME` or `file:PATH`. */
    privateKey: z.string().min(1),
    passphrase: z.string().min(1).optional(),
    folders: z
      .strictObject({
        /** hirebridge writes requests here, and the customer's job takes them. */
        requests: folder.default('requests'),
        /** Empty files that mark what was sent; only hirebridge uses them. */
        sent: folder.default('sent'),
        results: folder.default('results'),
        rosters: folder.default('rosters'),
      })
      .prefault({}),
    /** Lists of files that become candidates, and the files themselves. */
    resumes: z.strictObject({ folder: folder.default('resumes') }).optional(),
    delimiter: z.enum([',', ';']).default(','),
    /** The customer's OpenPGP public key, armoured: `file:customer.asc`. Requests are encrypted with it. */
    encryptTo: z.string().min(1).optional(),
    /** Our OpenPGP private key, armoured, for encrypted results and rosters. */
    decryptWith: z.string().min(1).optional(),
    decryptPassphrase: z.string().min(1).optional(),
    idColumn: columnName.default('employee_id'),
    numberColumn: columnName.default('employee_number'),
    referenceColumn: columnName.default('reference'),
    /** Column with the last day of people who left; rosters then still list them. */
    endColumn: columnName.optional(),
    /** An older roster is not trusted, and hires wait for the next one. */
    rosterMaxAge: duration.default(3 * 86_400_000),
    /** How often the outcome of a hire is checked. */
    checkEvery: duration.default(15 * 60_000),
    /** The address of an employee's page: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform(({ hostKey, fields, ...options }) => ({
    ...options,
    hostKeys: [hostKey].flat(),
    columns: { ...defaultColumns, ...fields },
  }));

export type SftpOptions = z.output<typeof sftpOptions>;

export interface RemoteFile {
  name: string;
  size: number;
  /** By the server's clock. */
  changedAt: number;
}

/** Access to the customer's folders. Every failure is a ConnectorError. */
export interface SftpSession {
  list(folder: string, signal: AbortSignal): Promise<RemoteFile[]>;
  /** Reads at most one byte more than `most`: if that byte comes, the file is too long. */
  read(path: string, most: number, signal: AbortSignal): Promise<Buffer>;
  /**
   * Puts a whole file under its name, or nothing: writes it under another name and renames it. False if the name is
   * taken; no file is ever overwritten.
   */
  publish(path: string, bytes: Uint8Array, write: Pick<WriteOptions, 'signal' | 'beforeSend'>): Promise<boolean>;
  exists(path: string, signal: AbortSignal): Promise<boolean>;
  /** A missing file is not an error. */
  remove(path: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** A status of the SFTP protocol. */
const NO_SUCH_FILE = 2;
/** Servers end idle sessions silently. */
const IDLE_MS = 30_000;

/** A call under way. */
interface NamedAttempt extends Attempt {
  what: string;
}

type Use = <T>(signal: AbortSignal, attempt: NamedAttempt, work: (sftp: SFTPWrapper) => Promise<T>) => Promise<T>;

export function openSession(options: SftpOptions): SftpSession {
  const { use, close } = keepConnected(options);
  return {
    list: (folder, signal) => use(signal, { what: `Listing ${folder}` }, (sftp) => list(sftp, folder)),
    read: (path, most, signal) => use(signal, { what: `Reading ${path}` }, (sftp) => read(sftp, path, most)),
    publish: (path, bytes, write) => {
      const attempt: NamedAttempt = { what: `Writing ${path}` };
      return use(write.signal, attempt, (sftp) => publish(sftp, { ...write, path, bytes, attempt }));
    },
    exists: (path, signal) => use(signal, { what: `Looking for ${path}` }, (sftp) => exists(sftp, path)),
    remove: (path, signal) => use(signal, { what: `Removing ${path}` }, (sftp) => remove(sftp, path)),
    close,
  };
}

/** Keeps one connection: opens it when needed, and ends it when idle. */
function keepConnected(options: SftpOptions): { use: Use; close: () => Promise<void> } {
  let opened: Promise<OpenSftp> | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;

  function forget(attempt: Promise<OpenSftp>): void {
    if (opened === attempt) opened = undefined;
  }

  function open(): Promise<OpenSftp> {
    if (opened !== undefined) return opened;
    const attempt = connectSftp(options, () => forget(attempt));
    attempt.catch(() => forget(attempt));
    opened = attempt;
    return attempt;
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    const last = opened;
    opened = undefined;
    (await last?.catch(() => undefined))?.client.end();
  }

  return {
    close,
    async use(signal, attempt, work) {
      clearTimeout(idle);
      users += 1;
      try {
        signal.throwIfAborted();
        const connected = open();
        return await unlessAborted(
          signal,
          connected.then(({ sftp, over }) => Promise.race([work(sftp), over])),
        );
      } catch (error) {
        if (error === attempt.forbidden) throw error;
        const { what, sent = false } = attempt;
        throw explainSftpError(error, { what, sent, stopped: signal.aborted });
      } finally {
        users -= 1;
        if (users === 0) idle = setTimeout(() => void close(), IDLE_MS).unref();
      }
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

/** Stops at `most`, whatever length the server claims. */
async function read(sftp: SFTPWrapper, path: string, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const stream = sftp.createReadStream(path, { end: most });
  // After the last byte ssh2 closes the file; if the connection failed then, the error would end the process.
  stream.on('error', () => undefined);
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Publication extends Pick<WriteOptions, 'signal' | 'beforeSend'> {
  path: string;
  bytes: Uint8Array;
  attempt: Attempt;
}

/** A plain rename refuses a taken name (OpenSSH uses a link there); the extension posix-rename would overwrite it. */
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

interface OpenSftp {
  client: Client;
  sftp: SFTPWrapper;
  /** Rejects when the connection is over, because ssh2 then leaves some calls without an answer. */
  over: Promise<never>;
}

const CONNECT_MS = 10_000;

/**
 * Connects, and sends no credentials before the host key is verified. Calls `ended` when a working connection is over.
 */
async function connectSftp(options: SftpOptions, ended: () => void): Promise<OpenSftp> {
  const { host, port, user, privateKey, passphrase, hostKeys } = options;
  // Loaded here: it takes as long as starting Node, so only processes that connect should load it.
  const ssh2 = await import('ssh2');
  const client = new ssh2.Client();
  let shown = '';
  const over = new Promise<never>((_, reject) => {
    client.on('close', () => {
      ended();
      reject(new Error('the connection ended'));
    });
  });
  over.catch(() => undefined);
  const ready = new Promise<void>((resolve, reject) => client.on('ready', resolve).on('error', reject));
  const sock = connectSocket(options);
  // ssh2 refuses an unreadable key before it listens to this socket, whose error would then end the process.
  sock.on('error', () => undefined);
  try {
    client.connect({
      sock,
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
    sock.destroy();
    if (shown !== '' && !hostKeys.includes(shown)) throw wrongHostKey(options, shown);
    throw error;
  }
}

function connectSocket({ host, port, allowPrivateAddress }: SftpOptions): Socket {
  if (allowPrivateAddress) return connect({ host, port });
  assertPublicAddress(new URL(`ssh://${host.includes(':') ? `[${host}]` : host}`));
  return connect({ host, port, lookup: publicLookup });
}

/** A call of ssh2 as a promise; throws at once if the connection is gone. */
function settle<T>(call: (done: (error: Error | null | undefined, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, result) => (error === undefined || error === null ? resolve(result) : reject(error))),
  );
}

interface Attempted {
  /** Names the call, with the path. */
  what: string;
  /** The request left, and no answer came. */
  sent: boolean;
  /** The caller stopped waiting. */
  stopped: boolean;
}

interface Meaning {
  code: string;
  action: ErrorAction;
  text: string;
}

/** By status of the SFTP protocol, version 3 (draft-ietf-secsh-filexfer-02, section 7). */
const BY_STATUS: Readonly<Record<number, Meaning>> = {
  2: {
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    text: 'there is no such file or folder. Make it, or name the right one under hris.folders',
  },
  3: {
    code: 'HRIS_FORBIDDEN',
    action: 'reauthorize',
    text: 'this user may not do that. Grant it on the server, or name the right user in hris.user',
  },
};
const FAILURE: Meaning = {
  code: 'HRIS_ERROR',
  action: 'retry',
  text: 'the server failed. Its disk or quota may be full; its own log says more',
};

/** The status with which the server answered; undefined if it did not. */
function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  // The reason of an aborted signal has a numeric code, too; it is no status.
  return typeof code === 'number' && !(error instanceof DOMException) ? code : undefined;
}

/** Turns an error of ssh2 into a ConnectorError. A write that left without an answer is unknown. */
function explainSftpError(error: unknown, { what, sent, stopped }: Attempted): ConnectorError {
  if (isConnectorError(error)) return error.code === 'PRIVATE_ADDRESS' ? privateAddress(error) : error;
  const status = statusOf(error);
  if (status !== undefined) {
    const { text, ...meaning } = BY_STATUS[status] ?? FAILURE;
    return new ConnectorError({ ...meaning, message: `${what}: ${text}.`, cause: error });
  }
  if (sent)
    return new ConnectorError({
      code: 'HRIS_UNREACHABLE',
      action: 'unknown',
      message: `${what}: the connection ended before the server answered. It is looked up before anything is repeated.`,
      cause: error,
    });
  if (stopped)
    return new ConnectorError({
      code: 'STOPPED',
      action: 'retry',
      message: `${what} was stopped by the caller; nothing was delivered.`,
      cause: error,
    });
  return explainConnecting(error, what);
}

/** Pauses the HRIS instead of one hire. */
function privateAddress({ message }: ConnectorError): ConnectorError {
  return rejected('HRIS_PRIVATE_ADDRESS', message);
}

function explainConnecting(error: unknown, what: string): ConnectorError {
  const said = error instanceof Error ? error.message : '';
  if (said.includes('privateKey'))
    return new ConnectorError({
      code: 'HRIS_AUTH',
      action: 'reauthorize',
      message:
        'The private key cannot be read. Check that the secret behind hris.privateKey is an OpenSSH or PEM key, and ' +
        'hris.passphrase if it has one.',
    });
  if ((error as { level?: unknown }).level === 'client-authentication')
    return new ConnectorError({
      code: 'HRIS_AUTH',
      action: 'reauthorize',
      message:
        "The SFTP server refuses this user or key. Check hris.user, and that the key's public half is among the " +
        "user's authorized keys there.",
    });
  return new ConnectorError({
    code: 'HRIS_UNREACHABLE',
    action: 'retry',
    message: `${what}: the SFTP server cannot be reached, or ended the connection. Check hris.host and hris.port.`,
    cause: error,
  });
}

/** Another server may be in between: nothing was sent, not even a name. */
function wrongHostKey({ host, port, hostKeys }: SftpOptions, shown: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_HOST_KEY',
    action: 'reauthorize',
    message:
      `${host}:${port} shows the host key ${shown}, but hris.hostKey pins ${hostKeys.join(', ')}. Nothing was ` +
      "sent. Ask the server's administrators which one is right; add the new one to hris.hostKey only then.",
    details: { shown, pinned: hostKeys },
  });
}
