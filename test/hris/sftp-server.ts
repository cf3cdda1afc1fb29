import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2 from 'ssh2';
import { onTestFinished } from 'vitest';

/** A file of a server: what its list says of it, and what comes. */
export interface ServedFile {
  /** What the list claims; the length of the bytes where absent. */
  claims?: number;
  /** Absent where it never ends. */
  bytes?: Buffer;
  /** It is listed, and not to be read. */
  isLocked?: boolean;
  /** The connection ends where the file should be closed. */
  hangsUp?: boolean;
}

const { STATUS_CODE } = ssh2.utils.sftp;
const ENDLESS = Buffer.from('employee_id,employee_number\r\n');

/**
 * An SSH server on a real socket whose files are as long as it likes. Its paths are `folder/name`; it is written with
 * the server half of the library, and takes whoever comes, or only who proves to have a key that it admits.
 */
export async function serveFiles(files: Record<string, ServedFile>, admits?: (publicKey: Buffer) => boolean) {
  const { close, ...served } = await startFileServer(files, { admits });
  onTestFinished(close);
  return served;
}

/** The same outside a test; with `hasFolders` every path without a dot is a folder, and what is written is taken. */
export async function startFileServer(
  files: Record<string, ServedFile>,
  { hasFolders = false, admits }: { hasFolders?: boolean; admits?: ((publicKey: Buffer) => boolean) | undefined } = {},
) {
  const [host, user] = [makeKey(), makeKey()];
  let sent = 0;
  const server = new ssh2.Server({ hostKeys: [host] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (context) => {
      if (admits === undefined || isProven(context, admits)) context.accept();
      else context.reject(['publickey']);
    });
    client.on('session', (accept) => {
      const seen = { count: (bytes: number) => (sent += bytes), hangUp: () => void client.end() };
      accept().on('sftp', (acceptSftp) => serve(acceptSftp(), files, hasFolders, seen));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => void server.close();
  const key = ssh2.utils.parseKey(host);
  if (key instanceof Error) throw key;
  const options = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    user: 'hr',
    hostKey: `SHA256:${createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '')}`,
    privateKey: user,
    allowPrivateAddress: true,
  };
  return { options, sent: () => sent, close };
}

/** A key is first named, and then proven by a signature. */
function isProven(context: ssh2.AuthContext, admits: (publicKey: Buffer) => boolean): boolean {
  if (context.method !== 'publickey' || !admits(context.key.data)) return false;
  const { key, blob, signature, hashAlgo } = context;
  const parsed = ssh2.utils.parseKey(key.data as unknown as string);
  if (signature === undefined || blob === undefined) return true;
  return !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo);
}

/** Of Node: one in two hundred ed25519 keys that the library makes cannot be read by it. */
function makeKey(): string {
  const privateKeyEncoding = { type: 'pkcs1', format: 'pem' } as const;
  const publicKeyEncoding = { type: 'pkcs1', format: 'pem' } as const;
  return generateKeyPairSync('rsa', { modulusLength: 2_048, privateKeyEncoding, publicKeyEncoding }).privateKey;
}

function serve(
  sftp: ssh2.SFTPWrapper,
  files: Record<string, ServedFile>,
  hasFolders: boolean,
  { count, hangUp }: { count: (bytes: number) => void; hangUp: () => void },
): void {
  const opened: { path: string; listed: boolean }[] = [];
  const open = (path: string): Buffer => Buffer.from([opened.push({ path, listed: false }) - 1]);
  const attrs = ({ claims, bytes }: ServedFile) => {
    const size = claims ?? bytes?.length ?? 0;
    return { mode: 0o100_644, uid: 0, gid: 0, size, atime: Date.now() / 1_000, mtime: Date.now() / 1_000 };
  };
  const at = sftp as unknown as {
    on(event: string, listener: (id: number, ...rest: never[]) => void): void;
    handle(id: number, handle: Buffer): void;
    name(id: number, names: object[]): void;
    attrs(id: number, of: object): void;
    data(id: number, bytes: Buffer): void;
    status(id: number, code: number): void;
  };
  at.on('OPENDIR', (id, path: string) => at.handle(id, open(path)));
  at.on('READDIR', (id, handle: Buffer) => {
    const folder = opened[handle[0] ?? 0];
    if (folder === undefined || folder.listed) return at.status(id, STATUS_CODE.EOF);
    folder.listed = true;
    const inside = Object.entries(files).filter(([path]) => path.startsWith(`${folder.path}/`));
    const names = inside.map(([path, file]) => [path.slice(folder.path.length + 1), file] as const);
    const all = names.flatMap(([name, file]) => [
      [name, file] as const,
      [`${name}.ready`, { bytes: Buffer.alloc(0) }] as const,
    ]);
    return at.name(
      id,
      all.map(([filename, file]) => ({ filename, longname: filename, attrs: attrs(file) })),
    );
  });
  at.on('OPEN', (id, path: string) => {
    if (files[path]?.isLocked === true) return at.status(id, STATUS_CODE.PERMISSION_DENIED);
    return at.handle(id, open(path));
  });
  const stat = (id: number, path: string) => {
    const file = files[path];
    if (file === undefined && hasFolders && !path.includes('.'))
      return at.attrs(id, { ...attrs({ claims: 0 }), mode: 0o40_755 });
    return file === undefined ? at.status(id, STATUS_CODE.NO_SUCH_FILE) : at.attrs(id, attrs(file));
  };
  at.on('STAT', (id, path: string) => stat(id, path));
  at.on('LSTAT', (id, path: string) => stat(id, path));
  at.on('FSTAT', (id, handle: Buffer) => stat(id, opened[handle[0] ?? 0]?.path ?? ''));
  at.on('READ', (id, handle: Buffer, offset: number, length: number) => {
    const bytes = files[opened[handle[0] ?? 0]?.path ?? '']?.bytes;
    const part =
      bytes?.subarray(offset, offset + length) ??
      Buffer.concat([offset === 0 ? ENDLESS : Buffer.alloc(0), Buffer.alloc(length, '1,1\r\n')]).subarray(0, length);
    if (part.length === 0) return at.status(id, STATUS_CODE.EOF);
    count(part.length);
    return at.data(id, part);
  });
  at.on('CLOSE', (id, handle: Buffer) => {
    if (files[opened[handle[0] ?? 0]?.path ?? '']?.hangsUp === true) return hangUp();
    return at.status(id, STATUS_CODE.OK);
  });
  for (const done of ['WRITE', 'RENAME', 'REMOVE', 'SETSTAT', 'FSETSTAT'])
    at.on(done, (id) => at.status(id, STATUS_CODE.OK));
}
