// A thousand tenants on one worker that have nothing to do: npm run test:fleet-at-rest -- [--tenants N] [--every 5m]
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/print.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { type FleetNumbers, measureFleet } from './measure-fleet.ts';

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1000' },
    streaming: { type: 'string', default: '300' },
    /** The bounds hold for the first; the default interval is printed beside it. */
    every: { type: 'string', multiple: true, default: ['30m', '5m'] },
    seconds: { type: 'string', default: '180' },
  },
});

async function main(): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const short: string[] = [];
  try {
    for (const [at, every] of values.every.entries()) {
      const numbers = await measureFleet({
        temporalAddress: temporal.address,
        tenants: Number(values.tenants),
        streaming: Number(values.streaming),
        seconds: Number(values.seconds),
        every,
        say: (line) => void process.stderr.write(`${line}\n`),
      });
      const rows = rowsOf(numbers);
      process.stdout.write(`\nReconciled every ${every}:\n${renderRows(rows, at === 0)}\n`);
      if (at === 0) short.push(...rows.filter((row) => row.value > row.most).map((row) => row.what));
    }
  } finally {
    await temporal.stop();
  }
  process.stdout.write(short.length === 0 ? 'All bounds hold.\n' : `Falls short: ${short.join('; ')}\n`);
  process.exitCode = short.length === 0 ? 0 : 1;
}

interface Row {
  what: string;
  value: number;
  most: number;
  unit: string;
}

function rowsOf({ one, many, loadMs, statusMs, nodeMs }: FleetNumbers): Row[] {
  return [
    { what: 'memory over one tenant', value: many.megabytes - one.megabytes, most: 150, unit: 'MB' },
    { what: 'of a core over one tenant', value: many.percent - one.percent, most: 5, unit: '%' },
    { what: 'files load', value: loadMs, most: 2_000, unit: 'ms' },
    { what: 'rows written, a tenant and minute', value: many.writes, most: 1, unit: '' },
    { what: 'hire by webhook, until it is opened', value: many.hireMs, most: 3_000, unit: 'ms' },
    { what: 'status, over the start of Node', value: statusMs - nodeMs, most: 1_000, unit: 'ms' },
  ];
}

function renderRows(rows: readonly Row[], isBound: boolean): string {
  const cells = rows.map(({ what, value, most, unit }) => [
    what,
    `${value.toFixed(1)} ${unit}`.trim(),
    isBound ? `<= ${most}` : '',
    isBound && value > most ? 'FALLS SHORT' : '',
  ]);
  return renderTable(['', 'measured', 'bound', ''], cells);
}

await main();
