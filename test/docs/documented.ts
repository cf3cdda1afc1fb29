import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** One line of a page that somebody may copy into a shell: continuations joined, and without its comment. */
export interface DocumentedCommand {
  page: string;
  heading: string;
  line: string;
}

/** Every page of people who run or change hirebridge. */
export function pages(): string[] {
  return globSync(['*.md', 'docs/*.md', 'src/**/*.md', 'packaging/**/*.md'], { cwd: ROOT }).toSorted();
}

export function readPage(page: string): Promise<string> {
  return readFile(join(ROOT, page), 'utf8');
}

/** What a page shows as the output of a command begins so. */
const OUTPUT = /^A hiring platform with 3 jobs/;

/** Lines of the blocks that are for a shell: those without a language, and `sh`. */
export function commandsOf(page: string, text: string): DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  let heading = '';
  let block: string[] | undefined;
  let isShell = false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const fence = /^```(\w*)/.exec(line);
    if (fence !== null && block === undefined) {
      block = [];
      isShell = ['', 'sh', 'bash'].includes(fence[1] ?? '');
    } else if (fence !== null) {
      if (isShell && !OUTPUT.test(block?.[0] ?? ''))
        found.push(...joined(block ?? []).map((one) => ({ page, heading, line: one })));
      block = undefined;
    } else if (block !== undefined) block.push(line);
    else if (/^#+ /.test(line)) heading = line;
  }
  return found;
}

function joined(block: readonly string[]): string[] {
  const text = block.join('\n').replaceAll(/\\\n\s*/g, '');
  return text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * Every command that a line stands for: with and without what is in brackets, and each of two that `|` parts.
 * `sync T [S] [--a | --b]` is six.
 */
export function variantsOf(line: string): string[] {
  const [, before = '', optional = '', after = ''] = /^(.*?)\[([^\]]*)\](.*)$/.exec(line) ?? [];
  // A list's place in a path is no option.
  if (optional !== '' && before.endsWith(' '))
    return ['', ...optional.split('|')].flatMap((one) => variantsOf(tidy(`${before}${one.trim()}${after}`)));
  const parts = quotes(line) ? [line] : line.split(/\s*\|\s*/);
  if (parts.length === 1) return [line];
  const [first = '', ...others] = parts;
  const stem = first.replace(/\S+$/, '');
  return [first, ...others.map((other) => tidy(`${stem}${other}`))];
}

function quotes(line: string): boolean {
  return /['"]/.test(line);
}

function tidy(line: string): string {
  return line.replaceAll(/ {2,}/g, ' ').trim();
}
