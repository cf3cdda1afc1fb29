import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Impossible } from './play-drill.ts';

const run = promisify(execFile);

export interface SmallDisk {
  path: string;
  /** Takes all the room there is. */
  fill(): Promise<void>;
  /** Gives it back. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** A file system of its own, in memory. @throws Impossible */
export async function mountDisk(megabytes: number): Promise<SmallDisk> {
  assertRoot('a small disk needs mount');
  const path = await mkdtemp(join(tmpdir(), 'hirebridge-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'none', path]);
  const ballast = join(path, 'ballast');
  return {
    path,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (const size of [1_000_000, 4_096])
          for (const block = Buffer.alloc(size); ; ) if ((await file.write(block)).bytesWritten < size) break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    empty: () => rm(ballast, { force: true }),
    async close() {
      await run('umount', ['-l', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

export interface Names {
  /** The name by which a process that is started `via` it finds this machine. */
  host: string;
  via: readonly string[];
  /** From now on nobody answers. */
  fallSilent(): void;
  speak(): void;
  close(): Promise<void>;
}

const ADDRESS = '127.0.0.71';

/** A name server, and a way to start a process that asks no other. @throws Impossible */
export async function startNames(): Promise<Names> {
  assertRoot('a name server of its own needs a mount namespace');
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-names-'));
  await chmod(folder, 0o755);
  const resolver = join(folder, 'resolv.conf');
  await writeFile(resolver, `nameserver ${ADDRESS}\n`);
  let silent = false;
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    if (!silent) socket.send(answerTo(query), from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, ADDRESS, resolve);
  });
  return {
    host: 'partner.drill.test',
    via: ['unshare', '-m', 'sh', '-c', `mount --bind ${resolver} /etc/resolv.conf && exec "$@"`, 'sh'],
    fallSilent: () => void (silent = true),
    speak: () => void (silent = false),
    async close() {
      socket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Every name is this machine; of other kinds of question there is no answer (RFC 1035, section 4). */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isAddress = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(isAddress ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  // The name by its place in the question, type A, class IN, a second to live, four bytes.
  const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, query.subarray(12, end), ...(isAddress ? [answer] : [])]);
}

function assertRoot(why: string): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Impossible(`${why}, and so root on Linux`);
}
