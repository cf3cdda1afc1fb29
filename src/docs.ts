import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder of this package's documentation: beside the sources, or above the build. */
export function docsFolder(): string | undefined {
  return ['../docs', '../../docs'].map((path) => resolve(import.meta.dirname, path)).find((path) => existsSync(path));
}

let headings: ReadonlySet<string> | undefined;

/** Where the documentation explains a code; undefined for codes from outside. */
export function explainedAt(code: string): string | undefined {
  headings ??= readHeadings();
  // For landing tables and whole HR systems, a prefix is put before the code that is documented.
  const meant = [code, code.replace(/^LANDING_/, 'HRIS_'), code.replace(/^(LANDING|HRIS)_/, '')];
  const found = meant.find((one) => headings?.has(one));
  return found === undefined ? undefined : `docs/troubleshooting.md#${found.toLowerCase()}`;
}

/** A message for people: the text, its code, and where that is explained. */
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
