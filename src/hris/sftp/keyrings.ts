import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^hirebridge-gpg-(\d+)-\w{6}$/;
/** No call of gpg takes this long; the process may run in another container. */
const OLD_MS = 3_600_000;

/** Keyrings of this process. */
const inUse = new Set<string>();

/** Makes a folder for one call of gpg, after removing those that killed processes left. Pass it to `dropKeyring`. */
export async function makeKeyring(): Promise<string> {
  await sweepKeyrings();
  const keyring = await mkdtemp(join(tmpdir(), `hirebridge-gpg-${process.pid}-`));
  inUse.add(keyring);
  return keyring;
}

export async function dropKeyring(keyring: string): Promise<void> {
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
