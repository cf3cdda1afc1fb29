import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the pages of this package stand: beside the sources, or above what was built of them. */
export function docsFolder(): string | undefined {
  return ['../docs', '../../docs'].map((path) => resolve(import.meta.dirname, path)).find((path) => existsSync(path));
}

let headings: ReadonlySet<string> | undefined;

/** The place of the documentation that explains a code. None where the code is from outside. */
export function explainedAt(code: string): string | undefined {
  headings ??= readHeadings();
  // Trouble of landing tables and of a whole HR system carries the code of what happened behind such a word.
  const meant = [code, code.replace(/^LANDING_/, 'HRIS_'), code.replace(/^(LANDING|HRIS)_/, '')];
  const found = meant.find((one) => headings?.has(one));
  return found === undefined ? undefined : `docs/troubleshooting.md#${found.toLowerCase()}`;
}

/** As people read it: the message, its code, and where that is explained. */
export function withCode(message: string, code: string, apart = ' '): string {
  const place = explainedAt(code);
  return `${message} [${code}]${place === undefined ? '' : `${apart}See: ${place}`}`;
}

function readHeadings(): ReadonlySet<string> {
  const folder = docsFolder();
  if (folder === undefined) return new Set();
  const page = readFileSync(join(folder, 'troubleshooting.md'), 'utf8');
  return new Set([...page.matchAll(/^## (\S+)$/gm)].map(([, code = '']) => code));
}
