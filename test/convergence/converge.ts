/**
 * Plays seeds of two-way exchange: `npm run test:convergence [-- --seeds N --from N --go-on]`. It ends at the first
 * seed that does not converge, or with --go-on plays the others too. A line every fifty seeds says how far it is. With
 * `--positions` it exchanges jobs and open positions instead of people. With `--strange` it plays a world that shares
 * nothing with the product's assumptions, judged by what happened to each value (`strange/history.ts`). With `--real N`
 * it plays N seeds with the product's own processes on a real Temporal, workers killed by SIGKILL.
 */
import { parseArgs } from 'node:util';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { type Played, playSeed } from './play-seed.ts';
import { playRealSeed } from './real/play-real-seed.ts';
import { playStrangeSeed } from './strange/play.ts';
import { exchanged, exchangedPositions } from './world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    real: { type: 'string' },
    positions: { type: 'boolean', default: false },
    strange: { type: 'boolean', default: false },
    'go-on': { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const REPORT_EVERY = 50;
const began = performance.now();
const sums = { edits: 0, writes: 0, kills: 0, freezes: 0 };
const others: Record<string, number> = {};
const failed: number[] = [];
let next = from;
const carried = values.positions ? exchangedPositions : exchanged;
if (values.real !== undefined) await playOnTemporal(Number(values.real));
else if (values.strange) await playSeeds(Number(values.seeds), playStrangeSeed);
else await playSeeds(Number(values.seeds), (seed) => playSeed(seed, carried));
report();
console.log(failed.length === 0 ? `${next - from} seeds converged` : `not converged: ${failed.join(', ')}`);
// The timers of requests whose process died would go on for minutes.
process.exit(failed.length === 0 ? 0 : 1);

async function playOnTemporal(seeds: number): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  try {
    await playSeeds(seeds, (seed) => playRealSeed(temporal.address, seed));
  } finally {
    await temporal.stop();
  }
}

async function playSeeds(seeds: number, play: (seed: number) => Promise<Played>): Promise<void> {
  while (next < from + seeds && (values['go-on'] || failed.length === 0)) {
    const { violations, ...played } = await play(next);
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += played[key];
    for (const [name, count] of Object.entries(played.others ?? {})) others[name] = (others[name] ?? 0) + count;
    for (const text of violations) console.log(`seed ${next}: ${text}`);
    if (violations.length > 0) failed.push(next);
    next += 1;
    if ((next - from) % REPORT_EVERY === 0) report();
  }
}

function report(): void {
  const { edits, writes, kills, freezes } = sums;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const share = (writes / edits).toFixed(2);
  console.log(
    `seeds ${from} to ${next - 1}: ${edits} edits, ${writes} values written (${share} an edit), ` +
      `${kills} processes killed, ${freezes} stood still, ${seconds} s`,
  );
  for (const [name, count] of Object.entries(others)) console.log(`  ${String(count).padStart(7)}  ${name}`);
}
