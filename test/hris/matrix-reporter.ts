import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { renderTable } from '../../src/cli/command.ts';

/** Prints what the conformance suite showed: a line a case, a column a kind, and why a cell is impossible. */
export const matrixReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cells = modules.flatMap((module) => [...module.children.allTests()]).flatMap(cellOf);
    if (cells.length === 0) return;
    const kinds = [...new Set(cells.map(({ kind }) => kind))];
    const names = [...new Set(cells.map(({ name }) => name))];
    const reasons = [...new Set(cells.flatMap(({ reason }) => reason ?? []))];
    const rows = names.map((name) => [
      name,
      ...kinds.map((kind) => {
        const cell = cells.find((one) => one.kind === kind && one.name === name);
        if (cell?.reason !== undefined) return `(${reasons.indexOf(cell.reason) + 1})`;
        return cell?.state ?? 'NOT RUN';
      }),
    ]);
    const notes = reasons.map((reason, at) => `(${at + 1}) impossible: ${reason}`);
    const sum = sumUp(cells) + unplayed(modules);
    process.stdout.write(`\n${renderTable(['case', ...kinds], rows)}\n${notes.join('\n')}\n${sum}\n`);
  },
};

interface Cell {
  kind: string;
  name: string;
  state: string;
  /** Why the kind cannot. */
  reason?: string;
}

function cellOf(test: TestCase): Cell[] {
  const { hris } = test.meta() as { hris?: { kind: string; case: string } };
  if (hris === undefined) return [];
  const result = test.result();
  const place = { kind: hris.kind, name: hris.case };
  if (result.state === 'skipped') return [{ ...place, state: 'impossible', reason: result.note ?? 'no reason given' }];
  return [{ ...place, state: result.state === 'passed' ? 'passed' : 'FAILED' }];
}

function sumUp(cells: readonly Cell[]): string {
  const count = (state: string) => cells.filter((cell) => cell.state === state).length;
  return `${count('passed')} passed, ${count('impossible')} impossible, ${count('FAILED')} failed`;
}

/** Files that failed although none of their cases did: they broke before a case began, which counts as a failure. */
function unplayed(modules: readonly TestModule[]): string {
  const broken = modules.filter((one) => !one.ok() && [...one.children.allTests()].every((test) => test.ok()));
  return broken.length === 0 ? '' : `; NOT PLAYED: ${broken.map((one) => one.relativeModuleId).join(', ')}`;
}
