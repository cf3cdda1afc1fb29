import { parseSync } from 'oxc-parser';
import { type Node, rejectErrors } from './parse-file.ts';

const SCREAMING = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** One line for each number, text or regular expression at the top of a module that is not in SCREAMING_CASE. */
export function constantViolations(file: string, source: string): string[] {
  const { program, errors } = parseSync(file, source);
  rejectErrors(file, errors);
  const literals = new Set<string>();
  for (const { name, value } of moduleConstants(program.body as unknown as Node[]))
    if (isLiteral(value, literals)) literals.add(name);
  return [...literals]
    .filter((name) => !SCREAMING.test(name))
    .map((name) => `${file}: ${name} is a literal, so its name is written in SCREAMING_CASE`);
}

function moduleConstants(statements: readonly Node[]): { name: string; value: Node }[] {
  return (
    statements
      .map((statement) => (statement['declaration'] as Node | null | undefined) ?? statement)
      .filter((statement) => statement.type === 'VariableDeclaration' && statement['kind'] === 'const')
      .flatMap((statement) => statement['declarations'] as Node[])
      // One that is only declared has no value.
      .filter((one) => one['init'] !== null)
      .map((one) => ({ name: String((one['id'] as Node)['name']), value: one['init'] as Node }))
  );
}

/** Arithmetic of literals is one too. */
function isLiteral(node: Node, literals: ReadonlySet<string>): boolean {
  const parts = (...keys: string[]): boolean => keys.every((key) => isLiteral(node[key] as Node, literals));
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] !== 'boolean' && (node['value'] !== null || node['regex'] !== undefined);
    case 'TemplateLiteral':
      return (node['expressions'] as Node[]).length === 0;
    case 'Identifier':
      return literals.has(String(node['name']));
    case 'UnaryExpression':
      return parts('argument');
    case 'BinaryExpression':
      return parts('left', 'right');
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return parts('expression');
    default:
      return false;
  }
}
