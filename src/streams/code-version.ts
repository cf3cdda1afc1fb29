import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };

/** Everything that decides how a record is read and what becomes of it, but for the tenant's mapping. */
const ROOMS = ['partner', 'mapping', 'streams'];

let known: string | undefined;

/**
 * Changes with the code of contract and mapping and with the packages they use. By their content, because a number
 * that a person has to raise would be forgotten once, and rows would stay as the earlier code made them.
 */
export function codeVersion(): string {
  known ??= hashCode();
  return known;
}

function hashCode(): string {
  const hash = createHash('sha256').update(`${process.version} ${JSON.stringify(packageFile.dependencies)}`);
  const src = dirname(import.meta.dirname);
  for (const room of ROOMS) {
    const files = readdirSync(join(src, room), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted())
      hash.update(readFileSync(file));
  }
  return hash.digest('base64url');
}
