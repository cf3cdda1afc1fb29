import { parseFile } from './parse-file.ts';
import { within } from './tree.ts';

export const limits = { fileLines: 500, functionLines: 100, columns: 120, parameters: 4 };

/** Files that are lists of facts: a limit on their length would only cut a list in two. */
export const factual: Record<string, string> = {
  'src/partner/contract': 'the sections of the specification as data',
  'src/store/migrations': 'the tables, one statement after the other',
  'test/contract/facts': 'the specification written down a second time, by hand',
  'test/contract/literals': "the specification's examples, letter by letter",
  'test/sandbox/cases': 'one case an endpoint and error code',
};

/** Where a line may be as wide as what it quotes. */
export const quoting: Record<string, string> = {
  'docs/streams.md': 'tables of what the code says of itself, one row a line',
  'docs/reference.md': 'what the program says of itself: tables and help, one row or sentence a line',
  'docs/measurements.md': 'one measurement a row',
  'test/contract/facts': 'sentences of the specification, to be found there as they stand',
  'test/planted/bugs': 'pieces of source that a patch looks for',
};

/** Where a parameter list longer than four is refused: the rooms that carry one context or one observation. */
const fewParameters = ['activities', 'workflows', 'src/hire', 'src/plan'];

const LONG_URL = /https?:\/\/\S{60,}/;

export function isFactual(file: string): boolean {
  return stands(file, factual);
}

function stands(file: string, rooms: Record<string, string>): boolean {
  return Object.keys(rooms).some((room) => within(file, room));
}

/** One line for each function, file and line of the file that is too large. */
export function sizeViolations(file: string, source: string): string[] {
  return [...longFile(file, source), ...largeFunctions(file, source), ...wideLines(file, source)];
}

function longFile(file: string, source: string): string[] {
  const lines = source.trimEnd().split('\n').length;
  return lines > limits.fileLines && !isFactual(file) ? [`${file} has ${lines} lines`] : [];
}

function largeFunctions(file: string, source: string): string[] {
  const narrow = fewParameters.some((room) => within(file, room));
  return parseFile(file, source).functions.flatMap(({ name, line, lines, parameters }) => [
    ...(lines > limits.functionLines ? [`${file}:${line} ${name} has ${lines} lines`] : []),
    ...(narrow && parameters > limits.parameters ? [`${file}:${line} ${name} has ${parameters} parameters`] : []),
  ]);
}

/** Lines of code or prose that do not fit; an address cannot be broken. */
export function wideLines(file: string, source: string): string[] {
  if (stands(file, quoting)) return [];
  return source.split('\n').flatMap((line, index) => {
    const columns = line.length;
    return columns > limits.columns && !LONG_URL.test(line) ? [`${file}:${index + 1} is ${columns} columns wide`] : [];
  });
}
