import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder, withCacheLock } from '../temporal/dev-server/cli-cache.ts';

/**
 * A folder of this name in the user's cache, filled by `install` the first time; processes that need it at once share
 * one installation. What a killed process left behind is made anew.
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const base = dirname(cacheFolder(process.env));
  const [folder, mark] = [join(base, name), join(base, `${name}.complete`)];
  const isThere = () =>
    access(mark).then(
      () => true,
      () => false,
    );
  if (await isThere()) return folder;
  await withCacheLock(
    `${folder}.lock`,
    () => undefined,
    async () => {
      if (await isThere()) return;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await install(folder);
      await writeFile(mark, '');
    },
  );
  return folder;
}
