import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { isGood, type Measure, measurePasses, measureQuarantine } from './measure-stream.ts';

const { values } = parseArgs({ options: { candidates: { type: 'string', default: '100000' } } });

/** Pulls 100,000 candidates (or `--candidates N`) through Temporal and prints each number beside its floor. */
async function main(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  try {
    const passes = await measurePasses(temporal.address, { candidates: Number(values.candidates), say });
    report([...passes, ...(await measureQuarantine(temporal.address, say))]);
  } finally {
    await temporal.stop();
  }
}

function report(measures: readonly Measure[]): void {
  const rows = measures.map((one) => [
    one.what,
    `${Number.isInteger(one.value) ? one.value : one.value.toFixed(1)} ${one.unit}`.trim(),
    one.exactly === undefined ? `<= ${one.most}` : `= ${one.exactly}`,
    isGood(one) ? 'ok' : 'FALLS SHORT',
  ]);
  process.stdout.write(`${renderTable(['', 'measured', 'floor', ''], rows)}\n`);
  const short = measures.filter((one) => !isGood(one)).length;
  process.stdout.write(`${measures.length - short} of ${measures.length} hold\n`);
  process.exitCode = short === 0 ? 0 : 1;
}

await main();
