import { readdirSync, readFileSync } from 'node:fs';

export interface PageFile {
  type: string;
  text: string;
}

const TYPES: Record<string, string> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };

let files: Map<string, PageFile> | undefined;

/** A file of the page by its path: `/` or `/page/<name>`. They are served as they stand, without a build step. */
export function pageFile(path: string): PageFile | undefined {
  files ??= readFiles(new URL('page/', import.meta.url));
  return files.get(path);
}

function readFiles(folder: URL): Map<string, PageFile> {
  return new Map(
    readdirSync(folder).map((name) => [
      name === 'index.html' ? '/' : `/page/${name}`,
      { type: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain', text: readFileSync(new URL(name, folder), 'utf8') },
    ]),
  );
}
