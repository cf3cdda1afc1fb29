// What a hire costs in CPU and how many there are a second, beside another checkout:
// npm run test:cost -- --against DIR [--hires 100] [--rounds 3]
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const PLAYER = fileURLToPath(new URL('./play-hires.ts', import.meta.url));

interface Run {
  hires: number;
  employees: number;
  seconds: number;
  worker: number;
  temporal: number;
  requests: number;
}

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    hires: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
  },
});
const here = { name: 'here', dir: HERE };
const trees = values.against === undefined ? [here] : [{ name: 'before', dir: values.against }, here];

const runs = new Map<string, Run[]>(trees.map(({ name }) => [name, []]));
for (let round = 1; round <= Number(values.rounds); round += 1)
  for (const { name, dir } of trees) {
    const run = await play(dir);
    process.stderr.write(`round ${round}, ${name}: ${JSON.stringify(run)}\n`);
    if (run.employees !== run.hires) throw new Error(`${name}: ${run.employees} employees for ${run.hires} hires`);
    runs.get(name)?.push(run);
  }

const rows = trees.map(({ name }) => rowOf(name, runs.get(name) ?? []));
const head = [
  'checkout',
  'hires a second',
  'worker CPU s a hire',
  'Temporal CPU s a hire',
  'both',
  'spread',
  'partner calls a hire',
];
process.stdout.write(`${renderTable(head, rows)}\n`);
if (values.against !== undefined) {
  process.stdout.write(`CPU a hire here / before: ${ratio(cpuOfHire)} (asked: at most 0.50)\n`);
  process.stdout.write(`hires a second here / before: ${ratio(hiresASecond)} (asked: at least 3)\n`);
}
process.stdout.write('Not measured: sandbox, receiver, the commands that look, and polls of an idle worker.\n');

async function play(dir: string): Promise<Run> {
  const { stdout } = await promisify(execFile)(process.execPath, [PLAYER, dir, values.hires], {
    cwd: dir,
    timeout: 600_000,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Run;
}

/** Of each round by itself: what else the machine does hits both sides. */
function ratio(of: (run: Run) => number): string {
  const before = runs.get('before') ?? [];
  return median((runs.get('here') ?? []).map((run, round) => of(run) / of(before[round] as Run))).toFixed(2);
}

function rowOf(name: string, own: readonly Run[]): string[] {
  const each = (pick: (run: Run) => number): string => median(own.map((run) => pick(run) / run.hires)).toFixed(3);
  const all = own.map(cpuOfHire).map((seconds) => seconds.toFixed(3));
  return [
    name,
    median(own.map(hiresASecond)).toFixed(2),
    each((run) => run.worker),
    each((run) => run.temporal),
    median(own.map(cpuOfHire)).toFixed(3),
    `${all.toSorted()[0]} to ${all.toSorted().at(-1)}`,
    each((run) => run.requests),
  ];
}

function hiresASecond({ hires, seconds }: Run): number {
  return hires / seconds;
}

function cpuOfHire({ worker, temporal, hires }: Run): number {
  return (worker + temporal) / hires;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
