// What a large company's go-live costs, at rest and with a worker that is killed again and again.
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/table.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { type Baseline, killEvery, leastCalls, measureBaseline, mostCalls } from './measure-baseline.ts';

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
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const common = { ...company, temporalAddress: temporal.address, latencyMs: Number(values.latency) };
  try {
    const { baseline, quiet } = await measureBaseline(common);
    say('undisturbed', baseline);
    const killed = await measureBaseline({ ...common, nextKill: killEvery(1_000 * Number(values['kill-every'])) });
    say('killed', killed.baseline);
    const [calls, more] = [sum(baseline.calls), sum(killed.baseline.calls) / sum(baseline.calls) - 1];
    const missing = company.hired - baseline.recorded.length;
    const isSame = String(baseline.recorded) === String(killed.baseline.recorded);
    report([
      [
        'list calls of a baseline',
        calls,
        `<= ${mostCalls(company)} (1.2 x ${leastCalls(company)})`,
        calls <= mostCalls(company),
      ],
      ['people not recorded', missing, '0', missing === 0],
      [
        'calls of a quiet reconcile',
        sum(quiet.calls),
        `${Math.ceil(company.jobs / 100)}`,
        sum(quiet.calls) === Math.ceil(company.jobs / 100),
      ],
      ['rows it wrote', quiet.written, '0', quiet.written === 0],
      [`more calls, killed ${killed.baseline.kills} times`, `${(100 * more).toFixed(1)} %`, '<= 5 %', more <= 0.05],
      ['recorded the same people', isSame ? 'yes' : 'no', 'yes', isSame],
    ]);
  } finally {
    await temporal.stop();
  }
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
