/** Writes docs/troubleshooting.md from the code: `node test/docs/error-codes.ts > docs/troubleshooting.md`. */
import { posix } from 'node:path';
import { holdCatalogue } from '../../src/hire/hold-catalogue.ts';
import { type Node, visitNodes } from '../architecture/parse-file.ts';
import { readCode } from '../architecture/tree.ts';

/** The sandbox's answers are the partner's, and the contract has them as data. */
const APART = ['src/sandbox/', 'src/partner/contract/', 'src/hris-kit/cases/', 'src/counterparts/'];

const ACTIONS: Readonly<Record<string, string>> = {
  retry: 'Trying again may help; a worker does so by itself.',
  throttle: 'It continues by itself after a pause.',
  reauthorize: 'The tenant is paused until the key or the account works again; then it continues by itself.',
  reject: 'Somebody must act; nothing was written.',
  ignore: 'Nothing needs to be done.',
  unknown: 'It is unknown whether the request arrived. It is looked up before anything is sent again.',
  alarm: 'An alarm, which ends by itself once its cause is gone; [what to do](runbook.md#hirebridgealarm).',
  hold: 'A question for a person; what it asks, and its answers: [holds](reference.md#holds).',
};

interface Met {
  code: string;
  actions: string[];
  message: string | undefined;
}

interface CodeFile {
  file: string;
  source: string;
  nodes: Node[];
  /** Where each imported name comes from. */
  imported: Map<string, string>;
  named: Named[];
}

/** What has a name within a function or the file: `const TOO_LATE = 'TOO_LATE'`. A parameter may be anything. */
interface Named {
  name: string;
  value: Node | undefined;
  within: Pick<Node, 'start' | 'end'>;
}

/** A function that makes an error of a code, or an alarm of a reason: which argument that is, and what must be done. */
interface Maker {
  at: number;
  /** Of a function that makes errors of one code, with a message that it is given. */
  code?: Node | undefined;
  actions: string[];
  /** Its own, where a call of it brings none. */
  message?: string | undefined;
}

const CODE = /^[A-Z][A-Z_]+$/;

/**
 * Every code that a person may meet: of errors (objects with a code in capitals beside an action or a message, and
 * calls of functions that make one of a code), of alarms (objects with a reason and a message), and of holds.
 */
export function metCodes(): Met[] {
  const files = readFiles();
  // A code with a name may be exported.
  const shared = files.flatMap(({ named }) => named.filter(({ name }) => CODE.test(name)));
  for (const file of files) file.named = [...shared, ...file.named];
  // By file and name: several files have one of the same name.
  const makers = new Map<string, Maker>();
  // A maker may hand its code to another one.
  for (let before = -1; before < makers.size; ) {
    before = makers.size;
    for (const file of files)
      for (const [name, maker] of makersIn(file, makers)) makers.set(`${file.file} ${name}`, maker);
  }
  const holds = Object.keys(holdCatalogue).map((code) => ({ code, actions: ['hold'], message: undefined }));
  return [...files.flatMap((file) => file.nodes.flatMap((node) => metIn(node, file, makers))), ...holds];
}

export function isCodeOfErrors(file: string): boolean {
  return /^(src|activities|workflows)\/.*\.ts$/.test(file) && !APART.some((room) => file.startsWith(room));
}

function readFiles(): CodeFile[] {
  return [...readCode()]
    .filter(([file]) => isCodeOfErrors(file))
    .toSorted()
    .map(([file, source]) => {
      const nodes: Node[] = [];
      visitNodes(file, source, (node) => nodes.push(node));
      const imports = nodes.filter(({ type }) => type === 'ImportDeclaration');
      const imported = imports.flatMap(({ specifiers, source: from }) =>
        (specifiers as Node[]).map((one) => {
          const target = posix.join(posix.dirname(file), String((from as Node)['value']));
          return [nameOf(one['local']), target] as const;
        }),
      );
      return { file, source, nodes, named: namedIn(nodes), imported: new Map(imported) };
    });
}

function namedIn(nodes: readonly Node[]): Named[] {
  const functions = nodes.filter(({ type }) => FUNCTIONS.includes(type));
  const around = ({ start, end }: Node) =>
    functions.findLast((one) => one.start < start && end <= one.end) ?? { start: 0, end: Number.POSITIVE_INFINITY };
  const declared = nodes.filter(({ type }) => type === 'VariableDeclarator');
  return [
    ...declared.flatMap((node) => {
      const value = node['init'] ? bare(node['init'] as Node) : undefined;
      const plain = nameOf(node['id']) !== '';
      return namesIn(node['id'] as Node).map((name) => ({
        name,
        value: plain ? value : undefined,
        within: around(node),
      }));
    }),
    ...functions.flatMap((within) =>
      (within['params'] as Node[]).flatMap(namesIn).map((name) => ({ name, value: undefined, within })),
    ),
  ];
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/** Of a parameter or a declaration, taken apart or with a default. */
function namesIn(pattern: Node): string[] {
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern['left'] as Node);
  if (pattern.type !== 'ObjectPattern') return nameOf(pattern) === '' ? [] : [nameOf(pattern)];
  return (pattern['properties'] as Node[]).flatMap(({ value }) => (value ? namesIn(value as Node) : []));
}

function makersIn(file: CodeFile, known: ReadonlyMap<string, Maker>): [string, Maker][] {
  return file.nodes.flatMap((node): [string, Maker][] => {
    const made = node.type === 'VariableDeclarator' ? bare(node['init'] as Node) : node;
    if (!['FunctionDeclaration', 'ArrowFunctionExpression'].includes(made?.type)) return [];
    const name = nameOf(node['id']);
    const parameters = (made['params'] as Node[]).map(nameOf);
    const at = parameters.findIndex((parameter) => ['code', 'reason'].includes(parameter));
    if (name === '' || known.has(`${file.file} ${name}`)) return [];
    const within = file.nodes.filter(({ start, end }) => start >= made.start && end <= made.end);
    const objects = within.filter(({ type }) => type === 'ObjectExpression').map(propertiesOf);
    if (at < 0) {
      const told = parameters.includes('message')
        ? objects.find((one) => nameOf(one.get('message')) === 'message')
        : undefined;
      return told?.has('action') ? [[name, { at, code: told.get('code'), actions: plainly(told.get('action')) }]] : [];
    }
    const error = objects.find((one) => nameOf(one.get('code')) === 'code' && one.has('action'));
    if (error !== undefined) {
      const message = messageOf(error.get('message'), file);
      return [[name, { at, actions: plainly(error.get('action')), message }]];
    }
    const isAlarm = objects.some((one) => nameOf(one.get('reason')) === 'reason' && one.has('message'));
    if (isAlarm) return [[name, { at, actions: ['alarm'] }]];
    const calls = within.filter(({ type }) => type === 'CallExpression');
    const handed = calls.flatMap((call) => {
      const maker = makerOf(call, file, known);
      return maker !== undefined && nameOf((call['arguments'] as Node[])[maker.at]) === 'code' ? [maker] : [];
    });
    return handed[0] === undefined ? [] : [[name, { at, actions: handed[0].actions }]];
  });
}

function metIn(node: Node, file: CodeFile, makers: ReadonlyMap<string, Maker>): Met[] {
  if (node.type === 'CallExpression') {
    const maker = makerOf(node, file, makers);
    const given = node['arguments'] as Node[];
    if (maker === undefined) return [];
    const message = given.map((one) => messageOf(one, file)).find((text) => text?.includes(' ')) ?? maker.message;
    return codesOf(maker.code ?? given[maker.at], file).map((code) => ({ code, actions: maker.actions, message }));
  }
  if (node.type === 'VariableDeclarator') return ofTable(node, file.source);
  if (node.type !== 'ObjectExpression') return [];
  const properties = propertiesOf(node);
  const isAlarm = properties.has('reason') && properties.has('message');
  if (!properties.has('action') && !properties.has('message')) return [];
  const [code, action] = [properties.get(isAlarm ? 'reason' : 'code'), properties.get('action')];
  const message = messageOf(properties.get('message'), file);
  return inStep(code, action, file.source).flatMap(([one, its]) => {
    const actions = isAlarm ? ['alarm'] : plainly(its);
    return codesOf(one, file).map((each) => ({ code: each, actions, message }));
  });
}

/** What is done about codes of the other side, what to do about them, and refused webhooks: tables by code. */
function ofTable(node: Node, source: string): Met[] {
  const name = nameOf(node['id']);
  const table = node['init'] ? bare(node['init'] as Node) : undefined;
  const known = ['actionsByCode', 'hints', 'REFUSALS', 'nextSteps'].includes(name);
  if (!known || table?.type !== 'ObjectExpression') return [];
  return [...propertiesOf(table)].map(([code, value]): Met => {
    if (name === 'hints') return { code, actions: [], message: textOf(value, source) };
    if (name === 'nextSteps') return { code, actions: [], message: `If many are refused: ${textOf(value, source)}.` };
    if (name === 'actionsByCode') return { code, actions: plainly(value), message: undefined };
    const [status, message] = (value['elements'] as Node[]).map((one) => textOf(one, source));
    return { code, actions: [], message: `${message} Answered with ${status}.` };
  });
}

/** A code and its action; where the same condition chooses both, the two that go together. */
function inStep(code: Node | undefined, action: Node | undefined, source: string) {
  const conditions = [code, action].map((node) => (node?.type === 'ConditionalExpression' ? node : undefined));
  const [test, other] = conditions.map((node) => {
    const { start = 0, end = 0 } = (node?.['test'] ?? {}) as Partial<Node>;
    return source.slice(start, end);
  });
  if (test === '' || test !== other) return [[code, action]] as const;
  return ['consequent', 'alternate'].map((side) => [code?.[side] as Node, action?.[side] as Node] as const);
}

/** An action that is written as a word. One that is computed depends on what only the run knows. */
function plainly(action: Node | undefined): string[] {
  return action?.type === 'Literal' ? [String(action['value'])] : [];
}

/** The maker that a call means: of its own file, or imported. */
function makerOf(call: Node, file: CodeFile, makers: ReadonlyMap<string, Maker>): Maker | undefined {
  const name = nameOf(call['callee']);
  return makers.get(`${file.file} ${name}`) ?? makers.get(`${file.imported.get(name) ?? ''} ${name}`);
}

function propertiesOf(object: Node): Map<string, Node> {
  return new Map(
    (object['properties'] as Node[]).flatMap((one) => {
      const name = nameOf(one['key']);
      return name === '' ? [] : [[name, bare(one['value'] as Node)] as const];
    }),
  );
}

function nameOf(node: unknown): string {
  return String((node as { name?: string } | null | undefined)?.name ?? '');
}

/** Without `as const`, `satisfies` and parentheses. */
function bare(node: Node): Node {
  const isShell = /^(TS|Parenthesized)/.test(node?.type ?? '') && 'expression' in node;
  return isShell ? bare(node['expression'] as Node) : node;
}

function codesOf(node: Node | undefined, file: CodeFile): string[] {
  return wordsOf(node, file).filter((word) => CODE.test(word));
}

/** The texts that an expression may come to: its own, that of a name, either of two, or any of a table. */
function wordsOf(node: Node | undefined, file: CodeFile, within: readonly Node[] = []): string[] {
  if (node === undefined || within.includes(node)) return [];
  const one = bare(node);
  const inner = (nodes: readonly Node[]) => nodes.flatMap((each) => wordsOf(each, file, [...within, node]));
  if (one.type === 'Literal') return [String(one['value'])];
  if (one.type === 'ConditionalExpression') return inner([one['consequent'] as Node, one['alternate'] as Node]);
  if (one.type === 'LogicalExpression') return inner([one['left'] as Node, one['right'] as Node]);
  const isEntry = one.type === 'MemberExpression' && one['computed'] === true;
  const named = meant(isEntry ? (one['object'] as Node) : one, file);
  if (named === undefined) return [];
  return inner(isEntry && named.type === 'ObjectExpression' ? [...propertiesOf(named).values()] : [named]);
}

/** What a name stands for, of the innermost function that has it: the last that was given it before. */
function meant(node: Node | undefined, { named }: CodeFile): Node | undefined {
  const at = node?.start ?? 0;
  const name = nameOf(node);
  const seen = named.filter((one) => one.name === name && one.within.start <= at && at <= one.within.end);
  const inner = Math.max(...seen.map(({ within }) => within.start));
  const own = seen.filter(({ within }) => within.start === inner);
  return (own.findLast(({ value }) => (value?.end ?? 0) <= at) ?? own[0])?.value;
}

function messageOf(node: Node | undefined, file: CodeFile): string | undefined {
  const callee = node?.type === 'CallExpression' ? nameOf(node['callee']) : '';
  return textOf(meant(node, file) ?? answerOf(callee, file) ?? node, file.source);
}

/** What a function of this file returns in the end. */
function answerOf(name: string, { nodes }: CodeFile): Node | undefined {
  const made = nodes.find((one) => one.type === 'FunctionDeclaration' && name !== '' && nameOf(one['id']) === name);
  const last = ((made?.['body'] as Node | undefined)?.['body'] as Node[] | undefined)?.at(-1);
  return last?.type === 'ReturnStatement' ? (last['argument'] as Node) : undefined;
}

/** A text as a reader meets it; what changes from case to case is a name in capitals. */
function textOf(node: Node | undefined, source: string): string | undefined {
  if (node === undefined) return undefined;
  const one = bare(node);
  if (one.type === 'Literal') return String(one['value']);
  if (one.type === 'TemplateLiteral') {
    const quasis = one['quasis'] as { value: { cooked: string } }[];
    const holes = (one['expressions'] as Node[]).map((hole) => holeOf(hole, source));
    return quasis.map(({ value }, n) => `${value.cooked}${holes[n] ?? ''}`).join('');
  }
  if (one.type !== 'BinaryExpression') return undefined;
  const [left, right] = [one['left'], one['right']].map((side) => textOf(side as Node, source));
  return left === undefined || right === undefined ? undefined : left + right;
}

function holeOf(node: Node, source: string): string {
  const text = source.slice(node.start, node.end);
  const [, counted, one, many] = /^count\(([\w.]+), '([^']+)'(?:, '([^']+)')?\)$/.exec(text) ?? [];
  if (counted !== undefined) return `${inCapitals(counted)} ${many ?? `${one}s`}`;
  return inCapitals(text);
}

function inCapitals(expression: string): string {
  const last = /(?:^|\.)([A-Za-z]+)(?:\(\))?$/.exec(expression)?.[1];
  return last === undefined ? '…' : last.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toUpperCase();
}

export function troubleshootingPage(codes = metCodes()): string {
  const byCode = Map.groupBy(codes, ({ code }) => code);
  const entries = [...byCode].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(entryOf);
  return `${[INTRODUCTION.trim(), ...entries].join('\n\n')}\n`;
}

const INTRODUCTION = `# Troubleshoot by error code

Every error, alarm and hold names a code, what happened, why, the next step, and its place on this page; \`--json\`
prints the code as \`code\`. Here is each code of hirebridge, in alphabetical order, with its messages; words in
capitals stand for values. Codes that are not here come from the hiring platform or the HR system, whose
documentation explains them. Why a field is left out or a stream stands still:
[two-way exchange](two-way.md#why-a-field-is-left-out).
`;

function entryOf([code, all]: [string, Met[]]): string {
  const actions = [...new Set(all.flatMap((one) => one.actions.flatMap((action) => ACTIONS[action] ?? [])))];
  // One that is all of it put together at run time says nothing here.
  const told = all.flatMap(({ message = '' }) => (/[a-z]{3}/.test(message) ? [message.trim()] : []));
  const messages = [...new Set(told)];
  const says = messages.map((message) => wrapped(`- ${message.replaceAll(/\s+/g, ' ')}`, '  '));
  const parts = [wrapped(actions.join(' '), ''), says.join('\n')].filter((part) => part !== '');
  const shared = code.replace(/^HRIS_/, '');
  if (parts.length === 0 && shared === code) throw new Error(`Nothing says what ${code} means.`);
  const same = `The same as [${shared}](#${shared.toLowerCase()}), where the HR system answers.`;
  return [`## ${code}`, ...(parts.length > 0 ? parts : [same])].join('\n\n');
}

/** Lines of at most 120 columns. */
export function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : indent + word);
  }
  return lines.join('\n');
}

if (import.meta.main) process.stdout.write(troubleshootingPage());
