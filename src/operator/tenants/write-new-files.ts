import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConnectorError } from '../../errors.ts';
import type { NewFile } from './tenant-texts.ts';

/** @throws ConnectorError FILE_EXISTS naming every file that is there already */
export function assertAbsent(paths: readonly string[]): void {
  const there = paths.filter((path) => existsSync(path));
  if (there.length === 0) return;
  throw new ConnectorError({
    code: 'FILE_EXISTS',
    action: 'reject',
    message: `${there.join(', ')} exists, and nothing is overwritten. Choose another tenant id, or edit the file.`,
  });
}

/** Writes them all, or none where one is there already. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  assertAbsent(files.map(({ path }) => path));
  for (const { path, text, isSecret } of files) {
    await mkdir(dirname(path), { recursive: true, ...(isSecret ? { mode: 0o700 } : {}) });
    await writeFile(path, text, { flag: 'wx', ...(isSecret ? { mode: 0o600 } : {}) });
  }
}
