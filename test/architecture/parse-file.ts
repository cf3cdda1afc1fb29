import path from 'node:path';
import { parseSync } from 'oxc-parser';

/** A function of a file: where it stands, and how long and wide it is. */
export interface FunctionSize {
  name: string;
  line: number;
  lines: number;
  parameters: number;
}

export interface ParsedFile {
  /** Files of this project that it imports, by their path from the root; types count like values. */
  files: string[];
  packages: string[];
  functions: FunctionSize[];
}

export interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const importTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

/** Reads what a file imports, in whatever form, and how large its functions are. */
export function parseFile(file: string, source: string): ParsedFile {
  const { program, errors } = parseSync(file, source);
  rejectErrors(file, errors);
  const parsed: ParsedFile = { files: [], packages: [], functions: [] };
  const lineOf = lineCounter(source);
  visit(program as unknown as Node, undefined, (node, parent) => {
    if (importTypes.has(node.type)) addImport(parsed, file, node);
    if (functionTypes.has(node.type) && !groupsTests(node, parent)) parsed.functions.push(sizeOf(node, parent, lineOf));
  });
  return parsed;
}

/** Every node of a file, each before those within it. */
export function visitNodes(file: string, source: string, see: (node: Node) => void): void {
  const { program, errors } = parseSync(file, source);
  rejectErrors(file, errors);
  visit(program as unknown as Node, undefined, see);
}

export function rejectErrors(file: string, errors: readonly { message: string }[]): void {
  if (errors[0] !== undefined) throw new Error(`${file} does not parse: ${errors[0].message}`);
}

function visit(node: Node, parent: Node | undefined, see: (node: Node, parent: Node | undefined) => void): void {
  see(node, parent);
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, node, see);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function addImport(parsed: ParsedFile, file: string, node: Node): void {
  const name = (node['source'] as { value?: unknown } | null)?.value;
  if (typeof name !== 'string') return;
  if (name.startsWith('.')) parsed.files.push(path.posix.join(path.posix.dirname(file), name));
  else parsed.packages.push(name);
}

function sizeOf(node: Node, parent: Node | undefined, lineOf: (offset: number) => number): FunctionSize {
  const first = lineOf(node.start);
  const parameters = (node['params'] as Node[]).filter((parameter) => parameter['name'] !== 'this');
  return {
    name: nameOf(node['id']) ?? nameOf(parent?.['id']) ?? nameOf(parent?.['key']) ?? 'a function without a name',
    line: first,
    lines: lineOf(node.end) - first + 1,
    parameters: parameters.length,
  };
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : undefined;
}

/**
 * `describe('...', () => { ... })` groups tests as a heading does; neither it nor a function that holds nothing but one
 * is read as a function.
 */
function groupsTests(node: Node, parent: Node | undefined): boolean {
  const statements = (node['body'] as Node)['body'];
  const [only, ...others] = Array.isArray(statements) ? (statements as Node[]) : [];
  if (others.length === 0 && isNode(only?.['expression']) && isDescribe(only['expression'])) return true;
  return parent !== undefined && isDescribe(parent) && (parent['arguments'] as Node[]).includes(node);
}

function isDescribe(call: Node): boolean {
  if (call.type !== 'CallExpression') return false;
  let callee = call['callee'];
  while (isNode(callee) && nameOf(callee) === undefined) callee = callee['object'] ?? callee['callee'] ?? callee['tag'];
  return nameOf(callee) === 'describe';
}

function lineCounter(source: string): (offset: number) => number {
  const ends = [...source.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
