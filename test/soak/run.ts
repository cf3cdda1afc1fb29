// A fleet at work for an hour, one of its processes killed every minute:
// npm run test:soak -- [--minutes N] [--tenants N] [--curves FILE.svg]
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { drawSamples, judgeFlat } from './flat.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    tenants: { type: 'string', default: '50' },
    curves: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { samples, judged, kills } = await soak({
    cliPath,
    minutes: Number(values.minutes),
    tenants: Number(values.tenants),
    say,
  });
  const { table, isFlat } = judgeFlat(samples, GROWS);
  process.stdout.write(`${table}\n`);
  process.stdout.write(`${kills} kills; ${JSON.stringify(judged)}\n`);
  if (values.curves !== undefined)
    await writeFile(values.curves, drawSamples(`A fleet at work for ${values.minutes} minutes`, samples));
  const { hires, lost, twice } = judged;
  process.exitCode = hires > 0 && lost === 0 && twice === 0 && isFlat ? 0 : 1;
}

/** Each hire leaves its rows behind. */
const GROWS = new Set(['store, MB', 'hires']);

await main();
