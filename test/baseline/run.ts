// What a large company's go-live costs, at rest and with a process that is killed again and again.
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { type Baseline, killEvery, leastCalls, measureBaseline } from './measure-baseline.ts';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '2000' },
    candidates: { type: 'string', default: '195000' },
    hired: { type: 'string', default: '5000' },
    latency: { type: 'string', default: '1000' },
    'kill-every': { type: 'string', default: '30' },
  },
});

async function main(): Promise<void> {
  const company = { jobs: Number(values.jobs), candidates: Number(values.candidates), hired: Number(values.hired) };
  const nextKill = killEvery(1_000 * Number(values['kill-every']));
  const { undisturbed, quiet, killed } = await measureBaseline({
    ...company,
    latencyMs: Number(values.latency),
    nextKill,
  });
  say('undisturbed', undisturbed);
  say('killed', killed);
  const least = leastCalls(company);
  const jobPages = Math.ceil(company.jobs / 100);
  const calls = sum(undisturbed.calls);
  const more = sum(killed.calls) / calls - 1;
  const missing = company.hired - undisturbed.recorded.length;
  const isSame = String(undisturbed.recorded) === String(killed.recorded);
  report([
    ['list calls of a baseline', calls, `<= ${Math.floor(1.2 * least)} (1.2 x ${least})`, calls <= 1.2 * least],
    ['people not recorded', missing, '0', missing === 0],
    ['list calls of a quiet reconcile', sum(quiet.calls), `${jobPages}`, sum(quiet.calls) === jobPages],
    ['rows of records it wrote', quiet.written, '0', quiet.written === 0],
    [`more calls, killed ${killed.kills} times`, `${(100 * more).toFixed(1)} %`, '<= 5 %', more <= 0.05],
    ['recorded the same people', isSame ? 'yes' : 'no', 'yes', isSame],
  ]);
}

function say(what: string, { calls, kills, ms }: Baseline): void {
  process.stderr.write(`${what}: ${Math.round(ms / 1_000)} s, ${kills} kills, ${JSON.stringify([...calls])}\n`);
}

function sum(calls: ReadonlyMap<string, number>): number {
  return [...calls.values()].reduce((total, count) => total + count, 0);
}

function report(rows: readonly (readonly [string, string | number, string, boolean])[]): void {
  const cells = rows.map(([what, measured, floor, holds]) => [
    what,
    `${measured}`,
    floor,
    holds ? 'ok' : 'FALLS SHORT',
  ]);
  process.stdout.write(`${renderTable(['', 'measured', 'bound', ''], cells)}\n`);
  process.exitCode = rows.every(([, , , holds]) => holds) ? 0 : 1;
}

await main();
