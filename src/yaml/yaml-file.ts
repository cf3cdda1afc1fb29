import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import type { z } from 'zod';
import { type ConnectorError, rejected } from '../errors.ts';
import { didYouMean } from '../in-words.ts';

/** Lines and columns begin at 1. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/**
 * One thing wrong with one place of a file. `text` says what, why and what to do next; never a value of the file that
 * could be a secret.
 */
export interface Problem extends Place {
  text: string;
}

export type Path = readonly (string | number)[];

/** Files that were read before, absolute path -> text. Where they are given, nothing is taken from the disk. */
export type Texts = Readonly<Record<string, string>>;

/** A parsed YAML file that still knows where everything stands. */
export interface YamlFile {
  file: string;
  text: string;
  doc: Document;
  lines: LineCounter;
  /** The plain value; undefined when `problems` is not empty. */
  value: unknown;
  problems: Problem[];
}

/** Files are written by people; a larger one is something else. */
const MOST_BYTES = 1_000_000;

/** Reads and parses one YAML 1.2 file. A missing file is a ConnectorError; bad syntax is listed in `problems`. */
export async function readYamlFile(file: string, texts?: Texts): Promise<YamlFile> {
  if (texts !== undefined) return parseYaml(file, texts[file] ?? '');
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'there is no such file'
        : `it cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw rejected('FILE_UNREADABLE', `${file}: ${reason}. Check the path and its permissions.`);
  }
  const odd = notAText(bytes);
  if (odd === undefined) return parseYaml(file, bytes.toString('utf8'));
  return { ...parseYaml(file, ''), value: undefined, problems: [{ file, line: 1, column: 1, text: odd }] };
}

/** Why a file cannot be read as text. */
export function notAText(bytes: Buffer): string | undefined {
  if (bytes.length > MOST_BYTES)
    return `is ${Math.ceil(bytes.length / 1_000_000)} MB long; at most 1 MB is read. Is this the right file?`;
  if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
  return 'is not text in UTF-8. Is this the right file? If so, save it as UTF-8.';
}

/** Where the parser's own word for a mistake says too little. */
const SYNTAX: Partial<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab indents it; use spaces',
  BAD_INDENT: 'the line does not line up with the lines around it',
  BLOCK_AS_IMPLICIT_KEY: 'this text needs quotes, or the line below it is indented too far',
  MULTILINE_IMPLICIT_KEY: 'a key needs a colon followed by a space, and must line up with the keys around it',
  MISSING_CHAR: 'a comma, a quote or a bracket is missing before it',
  UNEXPECTED_TOKEN: 'text with { } [ ] , or # needs quotes',
  BAD_SCALAR_START: 'text that begins with @, ` or % needs quotes',
  BAD_ALIAS: 'text that begins with * or & needs quotes',
  BAD_DQ_ESCAPE: 'a backslash within "..." has to stand twice; or use single quotes',
  MULTIPLE_DOCS: 'a second document begins here; write it to a file of its own',
};

/** Parses YAML text; `file` is only used in messages. */
export function parseYaml(file: string, text: string): YamlFile {
  const lines = new LineCounter();
  // prettyErrors would quote the source line in the message, and the line may hold a secret.
  // Nor does the parser itself warn on the terminal, of a map as a key for instance.
  const options = { prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;
  const doc = parseDocument(text, { lineCounter: lines, ...options });
  const source: YamlFile = { file, text, doc, lines, value: undefined, problems: [] };
  // After a mistake the parser takes what follows for mistakes as well.
  const [first] = [...doc.errors, ...doc.warnings];
  const twice = keysTwice(doc).map((at) => ({ at, what: 'this key is here twice' }));
  const all = first === undefined ? twice : [{ at: first.pos[0], what: wordsOf(first) }, ...twice];
  // Pasted from a web page or a chat; to the parser it is a letter, and nobody sees it.
  const pasted = text.search(/^[ \t]*\u00A0/m);
  if (pasted !== -1) all.splice(0, all.length, { at: pasted, what: 'a no-break space indents it; use plain spaces' });
  for (const { at, what } of all.toSorted((one, other) => one.at - other.at))
    source.problems.push({ file, ...position(lines, at), text: `is not valid YAML (${what}). Correct the line.` });
  if (source.problems.length > 0) return source;
  try {
    source.value = doc.toJS({ maxAliasCount: 20 });
  } catch {
    source.problems.push({
      file,
      ...position(lines, firstAlias(doc)),
      text: 'uses aliases that lead nowhere or grow without end. Write the values out.',
    });
  }
  return source;
}

function wordsOf({ code, message }: { code: string; message: string }): string {
  // By its code, a collection that nothing closes only has a line behind it that stands wrong.
  const [, end] = /end with a ([}\]])$/.exec(message) ?? [];
  if (end !== undefined) return `a ${end === '}' ? '{' : '['} before it is not closed: ${end} is missing`;
  return SYNTAX[code] ?? code.toLowerCase().replaceAll('_', ' ');
}

/**
 * Where a key stands a second time in its map. Keys of the parsed value are texts, so 1 and "1" are one. The parser
 * compares each key with every one before it: 100 kB of them stopped a console for a minute.
 */
function keysTwice(doc: Document): number[] {
  const found: number[] = [];
  visit(doc, {
    Map(_key, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) found.push(key.range?.[0] ?? 0);
        seen.add(name);
      }
    },
  });
  return found;
}

function firstAlias(doc: Document): number {
  let at = 0;
  visit(doc, {
    Alias(_key, node) {
      at = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return at;
}

/**
 * Where a path of the parsed value stands. A missing path gives the nearest parent that exists; `key` points at the
 * key itself.
 */
export function placeOf(source: YamlFile, path: Path, key?: string): { line: number; column: number } {
  let node: unknown = source.doc.contents;
  let start = startOf(node);
  for (const step of path) {
    const next = nodeAt(node, step);
    if (next === undefined || next === null) break;
    const at = isNode(next) && isMap(next) ? keyStart(node, step) : undefined;
    node = next;
    start = at ?? startOf(next) ?? start;
  }
  if (key !== undefined) start = keyStart(node, key) ?? start;
  return position(source.lines, start ?? 0);
}

function nodeAt(node: unknown, step: string | number): unknown {
  if (isMap(node)) return pairAt(node, step)?.value;
  return isSeq(node) ? node.get(step, true) : undefined;
}

/** Pairs by the text of their key: read one after the other, a map of thousands of mistakes took minutes to explain. */
const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** A key such as 1 is a number in YAML and text in the parsed value. */
function pairAt(map: YAMLMap, key: unknown): Pair | undefined {
  const known = pairs.get(map);
  if (known !== undefined) return known.get(String(key));
  const named = map.items.filter((item) => isScalar(item.key));
  pairs.set(map, new Map(named.map((item) => [String((item.key as Scalar).value), item])));
  return pairAt(map, key);
}

/**
 * Words below a path that are read as other text than the file has: 0815 without quotes is 815, and a key that is null
 * is no text at all.
 */
export function changedWords(source: YamlFile, path: Path): Problem[] {
  const problems: Problem[] = [];
  const top = path.reduce<unknown>(nodeAt, source.doc.contents);
  if (!isNode(top)) return problems;
  visit(top, {
    Scalar(place, { value, source: text = '', range }) {
      if (value === null ? place !== 'key' : typeof value !== 'number' || text === String(value)) return;
      const read = typeof value === 'number' ? value : 'nothing';
      const words = `${text} without quotes is read as ${read}. Write it in quotes: "${text}".`;
      problems.push({ file: source.file, ...position(source.lines, range?.[0] ?? 0), text: words });
    },
  });
  return problems;
}

/** Makes a problem at a path of the file. */
export function problemAt(source: YamlFile, path: Path, text: string, key?: string): Problem {
  return { file: source.file, ...placeOf(source, path, key), text };
}

/** Nobody reads more of them in a terminal. */
const MOST_TOLD = 100;

/** One refusal for any number of problems, the first of them listed as `file:line:column`, the others counted. */
export function refuse(code: string, problems: readonly Problem[]): ConnectorError {
  const list = problems.slice(0, MOST_TOLD).map((p) => `${p.file}:${p.line}:${p.column} ${p.text}`);
  if (problems.length > MOST_TOLD) list.push(`... and ${problems.length - MOST_TOLD} more. Correct these first.`);
  return rejected(code, list.join('\n'), { details: { problems: [...problems] } });
}

function keyStart(map: unknown, key: unknown): number | undefined {
  return isMap(map) ? startOf(pairAt(map, key)?.key) : undefined;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}

function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

type Issue = z.core.$ZodIssue;

/**
 * Turns what zod refused into problems with line and column; unknown keys get a did-you-mean. `prefix` is where the
 * schema's root stands in the file.
 */
export function explainIssues(source: YamlFile, schema: z.ZodType, error: z.ZodError, prefix: Path = []): Problem[] {
  // A value of the wrong kind is judged by its length all the same.
  const misfits = error.issues.filter(({ code }) => code === 'invalid_type');
  const told = new Set(misfits.map(({ path }) => path.join('\n')));
  return error.issues
    .filter(({ code, path }) => code === 'invalid_type' || !told.has(path.join('\n')))
    .flatMap((issue) => explain(source, schema, issue, prefix, []));
}

function explain(source: YamlFile, schema: z.ZodType, issue: Issue, prefix: Path, above: Path): Problem[] {
  const inner: Path = [...above, ...(issue.path as (string | number)[])];
  const path: Path = [...prefix, ...inner];
  const name = path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, inner);
    return issue.keys.map((key) =>
      problemAt(source, path, `"${[...path, key].join('.')}" is not a known key. ${didYouMean(key, known)}`, key),
    );
  }
  if (issue.code === 'invalid_union') {
    const branch = nearestBranch(issue.errors);
    if (branch) return branch.flatMap((child) => explain(source, schema, child, prefix, inner));
  }
  if (path.reduce<unknown>(nodeAt, source.doc.contents) === undefined)
    return [problemAt(source, path, `"${name}" is missing: ${expectation(issue)}. Add it.`)];
  return [problemAt(source, path, `"${name}" is not right: ${expectation(issue)}.`)];
}

/**
 * The branch of a union whose kind fits (a map for a map), so that its own problems are told instead of "invalid
 * input".
 */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find(
    (issues) =>
      issues.length > 0 &&
      issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys' || issue.code === 'custom'),
  );
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'keys with values, as in { key: value }',
  record: 'keys with values, as in { key: value }',
  array: 'a list, as in [one, two]',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'this is not a name';
  if (issue.code === 'invalid_union')
    return issue.message === 'Invalid input' ? 'it has none of the forms that are allowed here' : issue.message;
  return issue.message
    .replace(/^Invalid input: expected (\w+), received .*$/, (told, word: string) =>
      WORDS[word] === undefined ? told : `expected ${WORDS[word]}`,
    )
    .replace(/^Invalid (?:input|option|string): /, '')
    .replace(/, received .*$/, '')
    .replace(/\.$/, '');
}

/** The keys that objects of the schema accept at this path, unions taken together. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let level: z.ZodType[] = [schema];
  for (const step of path)
    level = level.flatMap((s) => unwrap(s).map((one) => child(one, step))).filter((s) => s !== undefined);
  return [...new Set(level.flatMap(unwrap).flatMap((s) => Object.keys((s as z.ZodObject).def.shape ?? {})))];
}

function child(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  const def = schema.def as { shape?: Record<string, z.ZodType>; element?: z.ZodType; valueType?: z.ZodType };
  return def.shape?.[step] ?? def.element ?? def.valueType;
}

function unwrap(schema: z.ZodType): z.ZodType[] {
  const def = schema.def as { innerType?: z.ZodType; in?: z.ZodType; options?: readonly z.ZodType[] };
  if (def.options) return def.options.flatMap(unwrap);
  const inner = def.innerType ?? def.in;
  return inner ? unwrap(inner) : [schema];
}
