/** Writes docs/troubleshooting.md from the code: `node test/docs/error-codes.ts > docs/troubleshooting.md`. */
import { type Node, visitNodes } from '../architecture/parse-file.ts';
import { readCode } from '../architecture/tree.ts';

/** The sandbox's answers are the partner's, and the contract has them as data. */
const APART = ['src/sandbox/', 'src/partner/contract/', 'src/hris-kit/cases/', 'src/counterparts/'];

const ACTIONS: Readonly<Record<string, string>> = {
  retry: 'It is tried again by itself.',
  throttle: 'It goes on by itself after a pause.',
  reauthorize: 'The tenant is paused until the key or the account works again; then it goes on by itself.',
  reject: 'Somebody must act; nothing was written.',
  ignore: 'Nothing is to be done.',
  unknown: 'Nobody knows whether it arrived. It is looked up before anything is sent again.',
};

interface Thrown {
  code: string;
  action: string | undefined;
  message: string | undefined;
}

/** Errors that the code makes: each object with a `code` in capitals and an `action`. */
export function thrownCodes(): Thrown[] {
  const files = [...readCode()].filter(
    ([file]) => /^(src|activities|workflows)\/.*\.ts$/.test(file) && !APART.some((room) => file.startsWith(room)),
  );
  return files.toSorted().flatMap(([file, source]) => {
    const found: Thrown[] = [];
    visitNodes(file, source, (node) => {
      if (node.type !== 'ObjectExpression') return;
      const properties = new Map(
        (node['properties'] as Node[]).flatMap((one) => {
          const key = one['key'] as { name?: string } | undefined;
          return key?.name === undefined ? [] : [[key.name, bare(one['value'] as Node)] as const];
        }),
      );
      const code = properties.get('code');
      const action = properties.get('action');
      if (code?.type !== 'Literal' || action === undefined || !/^[A-Z][A-Z_]+$/.test(String(code['value']))) return;
      const message = properties.get('message');
      found.push({
        code: String(code['value']),
        action: action.type === 'Literal' ? String(action['value']) : undefined,
        message: message === undefined ? undefined : textOf(message, source),
      });
    });
    return found;
  });
}

/** Without `as const` and `satisfies`. */
function bare(node: Node): Node {
  return node?.type?.startsWith('TS') === true && 'expression' in node ? bare(node['expression'] as Node) : node;
}

/** A message as a reader meets it; what changes from case to case is a name in capitals. */
function textOf(node: Node, source: string): string | undefined {
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
  const last = /(?:^|\.)([A-Za-z]+)(?:\(\))?$/.exec(text)?.[1];
  return last === undefined ? '…' : last.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toUpperCase();
}

export function troubleshootingPage(): string {
  const byCode = Map.groupBy(thrownCodes(), ({ code }) => code);
  const entries = [...byCode].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(entryOf);
  return `${INTRODUCTION}\n${entries.join('\n')}`;
}

const INTRODUCTION = `# Troubleshoot by error code

Every error names a code, what happened, why, and the next step; \`--json\` prints the code as \`code\`. This page has
each code of hirebridge, in alphabetical order, with its messages; words in capitals stand for what differs. Codes that
are not here come from the hiring platform or the HR system, whose documentation explains them. A hire that waits has a
hold instead, with answers: [reference](reference.md#holds). Why a field is left out or a stream stands still:
[two-way exchange](two-way.md#why-a-field-is-left-out). An alarm: [runbook](runbook.md).
`;

function entryOf([code, all]: [string, Thrown[]]): string {
  const actions = [...new Set(all.flatMap(({ action }) => (action === undefined ? [] : [ACTIONS[action] ?? ''])))];
  const messages = [...new Set(all.flatMap(({ message }) => (message === undefined ? [] : [message.trim()])))];
  const says = messages.map((message) => wrapped(`- ${message.replaceAll(/\s+/g, ' ')}`, '  '));
  return [`## ${code}\n`, wrapped(actions.join(' '), ''), ...(says.length > 0 ? ['', ...says] : []), ''].join('\n');
}

/** Lines of at most 120 columns. */
function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : indent + word);
  }
  return lines.join('\n');
}

if (import.meta.main) process.stdout.write(troubleshootingPage());
