import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import type { Place, Problem, Texts } from '../yaml/yaml-file.ts';

export type Lookup = Record<string, string | number | boolean>;

interface ReadLookup {
  /** Absolute path. */
  file: string;
  text: string;
  lookup: Lookup;
  /** Place of each value. */
  places: Record<string, Place>;
  problems: Problem[];
}

/**
 * Reads a lookup from a CSV file: a header line, then rows of the partner's value and the HR system's name for it.
 * `from` is the file that names it. Undefined if the file does not exist.
 */
export function readLookup(path: string, from: string, texts?: Texts): ReadLookup | undefined {
  const file = resolve(dirname(from), path);
  const text = texts === undefined ? contents(file) : texts[file];
  if (text === undefined) return undefined;
  try {
    return {
      file,
      text,
      ...readRows(file, parse(text, { bom: true, info: true, skip_empty_lines: true, relax_column_count: true })),
    };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    const why = `is not valid CSV (${error.code}). Correct it.`;
    return { file, text, lookup: {}, places: {}, problems: [{ file, line, column: 1, text: why }] };
  }
}

function contents(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** `lines` is the line on which a row ends. */
interface Row {
  info: { lines: number };
  record: string[];
}

function readRows(file: string, parsed: unknown): Pick<ReadLookup, 'lookup' | 'places' | 'problems'> {
  const [, ...rows] = parsed as Row[];
  const lookup: Lookup = Object.create(null) as Lookup;
  const seen = new Map<string, number>();
  const problems: Problem[] = [];
  const refuse = (line: number, text: string) => problems.push({ file, line, column: 1, text });
  for (const { info, record } of rows) {
    const [key = '', value = ''] = record.map((cell) => cell.trim());
    const before = seen.get(key);
    if (record.length !== 2 || key === '' || value === '')
      refuse(info.lines, 'needs two cells: the value of the hiring platform and what the HR system calls it.');
    else if (before !== undefined)
      refuse(info.lines, `gives "${key}" a second time; it stands in line ${before} too. Keep one of the two.`);
    else {
      lookup[key] = value;
      seen.set(key, info.lines);
    }
  }
  if (problems.length === 0 && seen.size === 0) refuse(1, 'holds no row beneath its header line. Add one a value.');
  const places = Object.fromEntries([...seen].map(([key, line]) => [key, { file, line, column: 1 }]));
  return { lookup, places, problems };
}
