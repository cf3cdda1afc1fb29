/** Plays seeds of the hire path: `npm run simulate -- --seeds 10000`, or one again with `--seed N --trace`. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { SeedLine } from './play-seeds.ts';

const { values } = parseArgs({
  options: {
    /** How many seeds. */
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Everything that happened, on stderr. */
    trace: { type: 'boolean', default: false },
    /** Ends at the first violation. */
    bail: { type: 'boolean', default: false },
  },
});
const PLAYER = fileURLToPath(new URL('./seed-process.ts', import.meta.url));

const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const processes = Math.max(1, Math.min(count, Number(values.processes)));
const began = performance.now();
const totals = { played: 0, hires: 0, failed: [] as SeedLine[], holds: new Map<string, number>() };

const children = Array.from({ length: processes }, (_, nth) =>
  spawn(process.execPath, [PLAYER, String(from + nth), String(from + count), String(processes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(values.trace ? { SIMULATION_TRACE: '1' } : {}) },
  }),
);

await Promise.all(
  children.map(async (child) => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    for await (const line of createInterface({ input: child.stdout })) note(JSON.parse(line) as SeedLine);
    await ended;
  }),
);
report();

function note(line: SeedLine): void {
  totals.played += 1;
  totals.hires += line.hires;
  for (const [code, times] of Object.entries(line.holds)) totals.holds.set(code, (totals.holds.get(code) ?? 0) + times);
  if (line.violations.length > 0) {
    totals.failed.push(line);
    console.log(`seed ${line.seed}: ${line.violations.join('\n  ')}`);
    console.log(`  again: npm run simulate -- --seed ${line.seed} --trace`);
    if (values.bail) for (const child of children) child.kill();
  }
  if (totals.played % 500 === 0) console.log(`${totals.played} of ${count} seeds`);
}

function report(): void {
  const seconds = (performance.now() - began) / 1000;
  const { played, hires, failed, holds } = totals;
  const held = [...holds].sort((a, b) => b[1] - a[1]).map(([code, times]) => `${code} ${times}`);
  console.log(
    `${played} seeds from ${from}, ${hires} hires, ${failed.length} with violations, ${seconds.toFixed(1)} s`,
  );
  if (held.length > 0) console.log(`holds: ${held.join(', ')}`);
  if (played < count && !values.bail) console.log(`only ${played} of ${count} seeds were played`);
  process.exitCode = failed.length > 0 || played < count ? 1 : 0;
}
