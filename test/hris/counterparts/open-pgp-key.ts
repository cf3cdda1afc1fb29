import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const OWN_PASSPHRASE = 'our-openpgp-test-0123456789';

/** A key of ours, made by gpg. `rsa2048` alone has no part that encrypts. */
export async function makeOwnKey(
  algorithm = 'default',
  passphrase = OWN_PASSPHRASE,
): Promise<{ publicKey: string; privateKey: string }> {
  const home = await mkdtemp(join(tmpdir(), 'hirebridge-own-key-'));
  const gpg = (...args: string[]) =>
    run('gpg', ['--homedir', home, '--batch', '--pinentry-mode', 'loopback', '--passphrase', passphrase, ...args]);
  try {
    await gpg('--quick-gen-key', 'hirebridge <ours@example.org>', algorithm, 'default', 'never');
    const { stdout: publicKey } = await gpg('--armor', '--export');
    const { stdout: privateKey } = await gpg('--armor', '--export-secret-keys');
    return { publicKey, privateKey };
  } finally {
    await run('gpgconf', ['--homedir', home, '--kill', 'all']).catch(() => undefined);
    await rm(home, { recursive: true, force: true });
  }
}
