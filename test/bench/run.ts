// Speed beside floors of the same run:
// npm run bench -- [--quick] [--only pull,start] [--rounds 3] [--out bench-results]
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/table.ts';
import { cost } from './cost.ts';
import { drawCurve } from './draw-curve.ts';
import { hire } from './hire.ts';
import { limiter } from './limiter.ts';
import { type Bench, type BenchOutcome, type Measured, median, ratioOf, verdictOf } from './measured.ts';
import { memory } from './memory.ts';
import { pull } from './pull.ts';
import { start } from './start.ts';
import { webhook } from './webhook.ts';

const benches: readonly Bench[] = [start, limiter, pull, webhook, hire, cost, memory];

const { values } = parseArgs({
  options: {
    /** Smaller and two rounds: says whether something broke, not how fast it is. */
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    out: { type: 'string', default: 'bench-results' },
  },
});

const { quick, out } = values;
const rounds = Number(values.rounds ?? (quick ? 2 : 3));
const wanted = values.only?.split(',') ?? benches.map(({ name }) => name);
const unknown = wanted.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0)
  throw new Error(`No bench ${unknown.join(', ')}. There are: ${benches.map(({ name }) => name).join(', ')}.`);

await mkdir(out, { recursive: true });
await writeFile(join(out, 'results.jsonl'), '');
for (const bench of benches.filter(({ name }) => wanted.includes(name))) {
  const say = (line: string): void => void process.stderr.write(`${bench.name}: ${line}\n`);
  const outcome = await bench.measure({ quick, rounds, say });
  await save(bench, outcome);
  show(bench, outcome);
}

async function save({ name }: Bench, { measured, curves = [] }: BenchOutcome): Promise<void> {
  const lines = measured.map((one) =>
    JSON.stringify({ ...one, median: median(one.values), ratio: ratioOf(one, measured) }),
  );
  await appendFile(join(out, 'results.jsonl'), `${lines.join('\n')}\n`);
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

function show({ name, leavesOut }: Bench, { measured }: BenchOutcome): void {
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
