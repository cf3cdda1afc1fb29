// Speed beside floors of the same run:
// npm run bench -- [--quick] [--only pull,start] [--rounds 3] [--out bench-results]
import { parseArgs } from 'node:util';
import { cost } from './cost.ts';
import { exchange } from './exchange.ts';
import { hire } from './hire.ts';
import { limiter } from './limiter.ts';
import type { Bench } from './measured.ts';
import { memory } from './memory.ts';
import { pull } from './pull.ts';
import { openReport } from './report.ts';
import { start } from './start.ts';
import { sync } from './sync.ts';
import { webhook } from './webhook.ts';

const benches: readonly Bench[] = [start, sync, limiter, pull, webhook, hire, exchange, cost, memory];

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

const report = await openReport(out, 'results.jsonl');
for (const bench of benches.filter(({ name }) => wanted.includes(name))) {
  const say = (line: string): void => void process.stderr.write(`${bench.name}: ${line}\n`);
  const outcome = await bench.measure({ quick, rounds, say });
  await report(bench, outcome);
}
