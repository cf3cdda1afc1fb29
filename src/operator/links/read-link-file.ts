import { readFileSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { type Problem, refuse } from '../../yaml/yaml-file.ts';

/** One line of the file: this candidate is this employee. */
export interface LinkLine {
  candidateId: string;
  employeeId: string;
  /** Where the line and its second cell stand, from 1. */
  line: number;
  column: number;
}

const HEADER = ['candidateId', 'employeeId'];

/**
 * Reads a CSV file with the header `candidateId,employeeId`. @throws ConnectorError LINKS_UNREADABLE with every problem
 * as file:line:column
 */
export function readLinkFile(file: string): { text: string; lines: LinkLine[] } {
  const text = contents(file);
  const [header, ...rows] = rowsOf(file, text);
  const heads = header?.record.map((cell) => cell.trim()) ?? [];
  if (heads.join() !== HEADER.join())
    throw linksUnreadable([{ file, line: 1, column: 1, text: `must begin with the line ${HEADER.join()}.` }]);
  const lines = rows.map(lineOf);
  const problems = [...rows.flatMap((row) => unfit(file, row)), ...repeated(file, lines)];
  if (problems.length > 0) throw linksUnreadable(problems);
  if (lines.length === 0)
    throw linksUnreadable([{ file, line: 1, column: 1, text: 'holds no line beneath its header.' }]);
  return { text, lines };
}

export function linksUnreadable(problems: readonly Problem[]): Error {
  return refuse('LINKS_UNREADABLE', problems);
}

function contents(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw linksUnreadable([{ file, line: 1, column: 1, text: 'cannot be read. Check the path and its permissions.' }]);
  }
}

interface Row {
  /** `lines` is the line that a row ends on. */
  info: { lines: number };
  raw: string;
  record: string[];
}

function rowsOf(file: string, text: string): Row[] {
  const options = { bom: true, info: true, raw: true, skip_empty_lines: true, relax_column_count: true } as const;
  try {
    return parse(text, options) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    throw linksUnreadable([{ file, line, column: 1, text: `is not valid CSV (${error.code}). Correct it.` }]);
  }
}

function lineOf({ info, raw, record }: Row): LinkLine {
  const [candidateId = '', employeeId = ''] = record.map((cell) => cell.trim());
  return { candidateId, employeeId, line: info.lines, column: raw.indexOf(',') + 2 };
}

function unfit(file: string, { info, record }: Row): Problem[] {
  if (record.length === 2 && record.every((cell) => cell.trim() !== '')) return [];
  return [{ file, line: info.lines, column: 1, text: 'needs two cells: a candidate id and an employee id.' }];
}

/** One person is one employee, and one employee one person. */
function repeated(file: string, lines: readonly LinkLine[]): Problem[] {
  const seen = { candidateId: new Map<string, number>(), employeeId: new Map<string, number>() };
  return lines.flatMap((one) =>
    (['candidateId', 'employeeId'] as const).flatMap((key): Problem[] => {
      const before = seen[key].get(one[key]);
      seen[key].set(one[key], before ?? one.line);
      if (before === undefined || one[key] === '') return [];
      const column = key === 'candidateId' ? 1 : one.column;
      return [{ file, line: one.line, column, text: `names ${key} ${one[key]} a second time, after line ${before}.` }];
    }),
  );
}
