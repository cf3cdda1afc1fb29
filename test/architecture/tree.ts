import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Every source file of the project by its path from the root, or a tree that a test makes up. */
export type Tree = ReadonlyMap<string, string>;

export const root = path.join(import.meta.dirname, '../..');

const code = ['src/**/*.{ts,mjs}', 'workflows/**/*.ts', 'activities/**/*.ts', 'test/**/*.ts'];
const prose = ['*.md', 'docs/**/*.md', 'src/**/*.md', 'test/**/*.md', 'mappings/**/*.md'];

export function readCode(dir = root): Tree {
  return read(dir, code);
}

export function readProse(): Tree {
  return read(root, prose);
}

function read(dir: string, patterns: string[]): Tree {
  const files = globSync(patterns, { cwd: dir }).toSorted();
  return new Map(files.map((file) => [file, readFileSync(path.join(dir, file), 'utf8')]));
}

/** `store` holds `store/inbox.ts` and is `store.ts`, but is not `store-front.ts`. */
export function within(file: string, room: string): boolean {
  return file === room || file.startsWith(`${room}/`) || file.replace(/\.m?ts$/, '') === room;
}
