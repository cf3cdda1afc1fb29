import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderTable } from '../../src/cli/command.ts';
import { drawCurve } from './draw-curve.ts';
import { type Bench, type BenchOutcome, type Measured, median, ratioOf, verdictOf } from './measured.ts';

/** Which bench it was, and what nobody should read out of its numbers. */
type Benched = Pick<Bench, 'name' | 'leavesOut'>;

/** Prints each outcome as a table, and keeps it in a folder as JSON lines and as curves. */
export async function openReport(
  out: string,
  file: string,
): Promise<(bench: Benched, outcome: BenchOutcome) => Promise<void>> {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, file), '');
  return async (bench, outcome) => {
    const { measured } = outcome;
    const lines = measured.map((one) =>
      JSON.stringify({ ...one, median: median(one.values), ratio: ratioOf(one, measured) }),
    );
    await appendFile(join(out, file), `${lines.join('\n')}\n`);
    await saveCurves(out, bench, outcome);
    show(bench, outcome);
  };
}

async function saveCurves(out: string, { name }: Benched, { measured, curves = [] }: BenchOutcome): Promise<void> {
  for (const unit of new Set(measured.map((one) => one.unit))) {
    const own = measured
      .filter((one) => one.unit === unit)
      .map(({ what, values: each }) => ({ name: what, values: each }));
    const file = `${name}-${unit.replaceAll(/\W+/g, '-')}.svg`;
    await writeFile(join(out, file), drawCurve(`${name}, round by round`, unit, own));
  }
  for (const { title, unit, values: each } of curves)
    await writeFile(join(out, `${name}-curve.svg`), drawCurve(title, unit, [{ name: title, values: each }]));
}

function show({ name, leavesOut }: Benched, { measured }: BenchOutcome): void {
  const head = [name, 'median', 'spread', 'unit', 'ratio', 'of', 'goal', ''];
  process.stdout.write(
    `${renderTable(
      head,
      measured.map((one) => rowOf(one, measured)),
    )}\n`,
  );
  process.stdout.write(`Not measured: ${leavesOut}\n\n`);
}

function rowOf(one: Measured, all: readonly Measured[]): string[] {
  const { what, unit, values: each, floor = '', goal } = one;
  const spread = `${brief(Math.min(...each))} to ${brief(Math.max(...each))}`;
  const ratio = ratioOf(one, all);
  const bounds = [
    goal?.least === undefined ? '' : `>= ${goal.least}`,
    goal?.most === undefined ? '' : `<= ${goal.most}`,
  ];
  const shown = ratio === undefined ? '' : ratio.toFixed(2);
  return [what, brief(median(each)), spread, unit, shown, floor, bounds.join(' ').trim(), verdictOf(one, all)];
}

function brief(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
