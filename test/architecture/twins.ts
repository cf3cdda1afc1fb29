import { isFactual } from './sizes.ts';
import type { Tree } from './tree.ts';

/** So many lines in a row may stand twice: a signature and its call, a list of the same fields. */
const ALLOWED_LINES = 8;

interface Line {
  file: string;
  number: number;
  text: string;
}

/** One line for each run of more than eight lines that stands twice, in one file or in two. */
export function twinViolations(tree: Tree): string[] {
  const files = [...tree].filter(([file]) => !isFactual(file)).map(([file, source]) => significantLines(file, source));
  const seen = new Map<string, { lines: Line[]; at: number }>();
  const found: string[] = [];
  for (const lines of files) {
    let at = 0;
    while (at + ALLOWED_LINES < lines.length) {
      const key = windowAt(lines, at);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, { lines, at });
      const length = first === undefined || overlaps(first, lines, at) ? 0 : commonLength(first, lines, at);
      if (first !== undefined && length > 0) found.push(describe(first, lines, at, length));
      at += Math.max(1, length);
    }
  }
  return found;
}

/** Blank lines, comments, imports and lone brackets say nothing about who wrote what twice. */
function significantLines(file: string, source: string): Line[] {
  const code = source.replace(/^import [^;]*;$/gm, blankLines).replace(/\/\*[\s\S]*?\*\//g, blankLines);
  return code
    .split('\n')
    .map((text, index) => ({ file, number: index + 1, text: text.trim().replace(/'[^']*'|`[^`]*`|\d+/g, '_') }))
    .filter(({ text }) => /[A-Za-z]/.test(text) && !text.startsWith('//'));
}

function blankLines(text: string): string {
  return text.replace(/[^\n]/g, '');
}

function windowAt(lines: Line[], at: number): string {
  return lines
    .slice(at, at + ALLOWED_LINES + 1)
    .map(({ text }) => text)
    .join('\n');
}

function overlaps(first: { lines: Line[]; at: number }, lines: Line[], at: number): boolean {
  return first.lines === lines && at - first.at <= ALLOWED_LINES;
}

function commonLength(first: { lines: Line[]; at: number }, lines: Line[], at: number): number {
  let length = 0;
  while (at + length < lines.length && first.lines[first.at + length]?.text === lines[at + length]?.text) length += 1;
  return length;
}

function describe(first: { lines: Line[]; at: number }, lines: Line[], at: number, length: number): string {
  const [one, other] = [first.lines[first.at], lines[at]];
  return `${other?.file}:${other?.number} repeats ${length} lines of ${one?.file}:${one?.number}`;
}
