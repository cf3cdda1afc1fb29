import { execFile } from 'node:child_process';
import { access, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Python packages, each in an environment of its own. The target brings the SDK that the tap is made with. */
const packages = { dlt: 'dlt[postgres]==1.26.0', singer: 'meltanolabs-target-postgres==0.8.1' } as const;

/** Makes an environment where it is missing or was left half made, and gives its folder of programs. */
export async function environment(name: keyof typeof packages): Promise<string> {
  const folder = join(tmpdir(), `hirebridge-peer-${name}`);
  const bin = join(folder, 'bin');
  const mark = join(folder, packages[name]);
  if (await isThere(mark)) return bin;
  process.stderr.write(`peers: installs ${packages[name]} from PyPI into ${folder}\n`);
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(bin, 'pip'), ['install', '--quiet', packages[name]], { timeout: 900_000 });
  await writeFile(mark, '');
  return bin;
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
