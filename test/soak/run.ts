// A fleet at work for an hour, one of its processes killed every minute:
// npm run test:soak -- [--minutes N] [--tenants N] [--curves FILE.svg]
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/print.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { drawCurve } from '../bench/draw-curve.ts';
import { type Sample, soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    tenants: { type: 'string', default: '50' },
    curves: { type: 'string' },
  },
});

/** What may be a fifth more in the last quarter than in the second, and what the noise of it is. */
const FLAT = { share: 1.2, quarters: 4 } as const;

async function main(): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { samples, judged, kills } = await soak({
    cliPath,
    minutes: Number(values.minutes),
    tenants: Number(values.tenants),
    say,
  });
  const series = Object.keys(samples[0]?.values ?? {});
  const rows = series.map((name) => {
    const [, second = Number.NaN, , last = Number.NaN] = quarters(samples, name);
    const grows = last > second * FLAT.share && !GROWS.has(name);
    return [name, second.toFixed(1), last.toFixed(1), `${(last / second).toFixed(2)}`, grows ? 'GROWS' : ''];
  });
  process.stdout.write(`${renderTable(['', 'second quarter', 'last quarter', 'ratio', ''], rows)}\n`);
  process.stdout.write(`${kills} kills; ${JSON.stringify(judged)}\n`);
  if (values.curves !== undefined) await writeFile(values.curves, curvesOf(samples, series));
  const { hires, lost, twice } = judged;
  process.exitCode = hires > 0 && lost === 0 && twice === 0 && rows.every((row) => row[4] === '') ? 0 : 1;
}

/** Each hire leaves its rows behind. */
const GROWS = new Set(['store, MB', 'hires']);

/** The mean of each quarter. */
function quarters(samples: readonly Sample[], name: string): number[] {
  const each = Math.max(1, Math.floor(samples.length / FLAT.quarters));
  return Array.from({ length: FLAT.quarters }, (_, n) => {
    const part = samples.slice(n * each, (n + 1) * each).flatMap(({ values: seen }) => seen[name] ?? []);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** Each by the share of its own highest, so that all stand in one picture. */
function curvesOf(samples: readonly Sample[], series: readonly string[]): string {
  const lines = series.map((name) => {
    const own = samples.map(({ values: seen }) => seen[name] ?? 0);
    const highest = Math.max(...own, Number.MIN_VALUE);
    return { name: `${name}, to ${highest.toPrecision(3)}`, values: own.map((value) => (value / highest) * 100) };
  });
  return drawCurve(`A fleet at work for ${values.minutes} minutes`, '% of the highest', lines);
}

await main();
