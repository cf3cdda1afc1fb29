import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Client, SFTPWrapper } from 'ssh2';
import { assertPublicAddress, publicLookup } from '../../http/pool.ts';
import type { SftpOptions } from './options.ts';
import { wrongHostKey } from './sftp-errors.ts';

export interface OpenSftp {
  client: Client;
  sftp: SFTPWrapper;
  /** Rejects when the connection is over: ssh2 leaves some calls without an answer then. */
  over: Promise<never>;
}

const CONNECT_MS = 10_000;

/**
 * Connects, and shows nothing before the host key is the pinned one. `ended` is called when a connection that worked is
 * over.
 */
export async function connectSftp(options: SftpOptions, ended: () => void): Promise<OpenSftp> {
  const { host, port, user, privateKey, passphrase, hostKeys } = options;
  // Loading it takes as long as starting Node: only who connects pays for it.
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
  // A key that ssh2 cannot read is refused before it has this socket, whose error would end the process then.
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

/** A call of ssh2 as a promise; with the connection gone, it throws at once. */
export function settle<T>(call: (done: (error: Error | null | undefined, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, result) => (error === undefined || error === null ? resolve(result) : reject(error))),
  );
}
