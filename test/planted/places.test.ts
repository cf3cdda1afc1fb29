import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { PlantedBug } from './planted-bug.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('each planted bug has its place in the sources, and exactly one', async () => {
  const astray: string[] = [];
  for (const name of await readdir(new URL('bugs', import.meta.url))) {
    const { bug } = (await import(new URL(`bugs/${name}`, import.meta.url).href)) as { bug: PlantedBug };
    for (const { file, find } of bug.patches) {
      const times = (await readFile(join(ROOT, file), 'utf8')).split(find).length - 1;
      if (times !== 1) astray.push(`${name}: stands in ${file} ${times} times`);
    }
  }
  expect(astray).toEqual([]);
});

test('each planted bug that names a test names one that is there', async () => {
  const astray: string[] = [];
  for (const name of await readdir(new URL('bugs', import.meta.url))) {
    const { bug } = (await import(new URL(`bugs/${name}`, import.meta.url).href)) as { bug: PlantedBug };
    const { command, files = [] } = bug.caughtBy;
    const at = command.indexOf('-t') + 1;
    if (at === 0) continue;
    const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
    const isThere = texts.some((text) => new RegExp(command[at] ?? '').test(text.replaceAll("\\'", "'")));
    if (!isThere) astray.push(`${name}: ${command[at]}`);
  }
  expect(astray).toEqual([]);
});
