import { readFile } from 'node:fs/promises';
import type { Need } from '../../src/hris-kit/hris-under-test.ts';

/** Rows of the table in docs/hris.md that cases of the suite play. */
const PLAYED: Readonly<Record<string, Need>> = {
  'our reference is stored': 'reference',
  'describes its fields': 'describe',
  'lists changed employees': 'changes',
  'webhooks name changed employees': 'webhooks',
  'a former employee is rehired': 'rehire',
  'ends an employment': 'terminate',
  'changes an employee conditionally': 'amend',
  'takes files': 'files',
  'creates may be pending': 'pending',
};

/** What docs/hris.md says of one kind, by the need of the cases; undefined of a kind that it does not know. */
export async function readCapabilities(kind: string): Promise<Map<Need, boolean> | undefined> {
  const text = await readFile(new URL('../../docs/hris.md', import.meta.url), 'utf8');
  const cells = text.split('\n').flatMap((line) => (line.startsWith('|') ? [cellsOf(line)] : []));
  const [head = [], ...rows] = cells;
  const column = head.indexOf(`\`${kind}\``);
  if (column < 0) return undefined;
  return new Map(
    rows.flatMap((row): [Need, boolean][] => {
      const need = PLAYED[row[0] ?? ''];
      return need === undefined ? [] : [[need, row[column] === 'yes']];
    }),
  );
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}
