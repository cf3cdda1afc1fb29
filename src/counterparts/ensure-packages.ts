import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConnectorError } from '../errors.ts';

const run = promisify(execFile);
const QUIETLY = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 };

let last: Promise<unknown> = Promise.resolve();

/**
 * Installs Debian packages that are missing, one call after the other, as apt-get locks its lists; says which where
 * there is no apt-get, or no right to use it.
 */
export function ensurePackages(...names: string[]): Promise<void> {
  const ensured = last.then(() => installMissing(names));
  last = ensured.catch(() => undefined);
  return ensured;
}

async function installMissing(names: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) if (!(await isInstalled(name))) missing.push(name);
  if (missing.length === 0) return;
  try {
    await run('apt-get', ['update', '-q'], QUIETLY);
    await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], QUIETLY);
  } catch (cause) {
    throw new ConnectorError({
      code: 'PACKAGES_MISSING',
      action: 'reject',
      message: `apt-get could not install ${missing.join(' and ')}. Install what is missing, then start again.`,
      cause,
    });
  }
}

async function isInstalled(name: string): Promise<boolean> {
  return run('dpkg-query', ['-W', '-f', '${Status}', name]).then(
    ({ stdout }) => stdout.startsWith('install ok installed'),
    () => false,
  );
}
