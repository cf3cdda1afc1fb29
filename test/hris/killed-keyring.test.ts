import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encrypt } from '../../src/hris/sftp/ready-files.ts';
import { patience } from '../harness/pace.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { makeOwnKey, OWN_PASSPHRASE } from './counterparts/open-pgp-key.ts';
import { signal } from './profile.ts';

const PROCESS = fileURLToPath(new URL('./decrypt-process.ts', import.meta.url));

/** Private keys on the disk below a folder. */
async function keysIn(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true }).catch(() => []);
  return all.filter((name) => name.includes('private-keys') && name.endsWith('.key'));
}

test('a private key that a killed process left on the disk goes with the next use', async () => {
  const folder = await scratchFolder();
  const { publicKey, privateKey } = await makeOwnKey();
  const file = (await encrypt(Buffer.from('hello'), publicKey, signal)).toString('base64');
  const env = {
    ...process.env,
    TMPDIR: folder,
    TEST_KEY: privateKey,
    TEST_PASSPHRASE: OWN_PASSPHRASE,
    TEST_FILE: file,
  };
  const child = spawn(process.execPath, [PROCESS], { env, stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await vi.waitFor(async () => expect(await keysIn(folder)).not.toEqual([]), {
    timeout: patience(20_000),
    interval: 5,
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await keysIn(folder)).not.toEqual([]);

  // One that somebody alive is using, and one of before that is too old to be in use.
  const used = join(folder, `hirebridge-gpg-${process.ppid}-abcdef`);
  const old = join(folder, `hirebridge-gpg-${process.ppid}-ghijkl`);
  const others = join(folder, 'somebody-else');
  for (const one of [used, old, others]) await mkdir(one);
  await utimes(old, new Date(0), new Date(0));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await encrypt(Buffer.from('hello'), publicKey, signal);
  expect(await keysIn(folder)).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual([used, others].map((path) => path.slice(folder.length + 1)));
});
