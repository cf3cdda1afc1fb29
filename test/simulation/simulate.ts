/**
 * Plays seeds of the hire path: `npm run test:simulation -- --seeds 10000`, or one again with `--seed N --trace`;
 * `--quirks` changes the partner.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { again, playInProcesses, seedsFrom } from './play-in-processes.ts';
import type { SeedLine } from './play-seeds.ts';
import { type Extra, extras } from './scenario.ts';

const { values } = parseArgs({
  options: {
    /** How many seeds. */
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Everything that happened, on stderr. */
    trace: { type: 'boolean', default: false },
    /** The partner has some of the sandbox's quirks, drawn for each seed. */
    quirks: { type: 'boolean', default: false },
    /** What worlds have besides, `all` or some of scenario.ts's extras: each seed draws some of them. */
    with: { type: 'string', default: '' },
    /** Ends at the first violation. */
    bail: { type: 'boolean', default: false },
  },
});

const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const processes = Math.max(1, Math.min(count, Number(values.processes)));
const began = performance.now();
const totals = { played: 0, hires: 0, compared: 0, failed: 0, holds: new Map<string, number>() };

const env: Record<string, string> = values.trace ? { SIMULATION_TRACE: '1' } : {};
const isEnough = (line: SeedLine): boolean => values.bail && line.violations.length > 0;
const plays = seedsFrom(from, count, { quirks: values.quirks, extras: wanted(values.with) });
await playInProcesses({ plays, processes, env, isEnough }, note);
report();

function wanted(words: string): readonly Extra[] {
  if (words === 'all') return extras;
  const given = words.split(',').filter((word) => word !== '');
  const unknown = given.filter((word) => !extras.includes(word as Extra));
  if (unknown.length > 0)
    throw new Error(`--with takes all, or some of ${extras.join(', ')}; not ${unknown.join(', ')}`);
  return given as Extra[];
}

function note(line: SeedLine): void {
  totals.played += 1;
  totals.hires += line.hires;
  totals.compared += line.compared;
  for (const [code, times] of Object.entries(line.holds)) totals.holds.set(code, (totals.holds.get(code) ?? 0) + times);
  if (line.violations.length > 0) {
    totals.failed += 1;
    console.log(`seed ${line.seed}: ${line.violations.join('\n  ')}`);
    console.log(`  again: ${again(line.play)}`);
  }
  if (totals.played % 500 === 0) console.log(`${totals.played} of ${count} seeds`);
}

function report(): void {
  const seconds = (performance.now() - began) / 1000;
  const { played, hires, compared, failed, holds } = totals;
  const held = [...holds].sort((a, b) => b[1] - a[1]).map(([code, times]) => `${code} ${times}`);
  console.log(
    `${played} seeds from ${from}, ${hires} hires, ${compared} compared with a day without faults, ${failed} with` +
      ` violations, ${seconds.toFixed(1)} s`,
  );
  if (held.length > 0) console.log(`holds: ${held.join(', ')}`);
  if (played < count && !values.bail) console.log(`only ${played} of ${count} seeds were played`);
  process.exitCode = failed > 0 || played < count ? 1 : 0;
}
