import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )(["'])(\.[^"']+)\.ts\2/g;

/**
 * Keeps the declarations that the entries reach and removes all others under `folder`. Relative imports are made to
 * name the JavaScript: the compiler leaves `.ts` in declarations, which not every tool follows.
 */
export function keepTypesOf(entries: readonly string[], folder: string): void {
  const kept = new Set<string>();
  for (const entry of entries) keep(entry, kept);
  for (const file of globSync('**/*.d.ts', { cwd: folder }).map((name) => join(folder, name)))
    if (!kept.has(file)) rmSync(file);
}

function keep(file: string, kept: Set<string>): void {
  if (kept.has(file)) return;
  kept.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, , , target] of text.matchAll(SPECIFIER)) keep(join(dirname(file), `${target}.d.ts`), kept);
  writeFileSync(file, text.replaceAll(SPECIFIER, '$1$2$3.js$2'));
}
