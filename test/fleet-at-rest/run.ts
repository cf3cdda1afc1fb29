// A thousand tenants on one worker that have nothing to do: npm run test:fleet-at-rest -- [--tenants N] [--every 5m]
// The same, and with two workers, on a Postgres that has grown for years: -- --old-rows N [--landed N] [--hints N]
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { type FullNumbers, measureFull } from './full-store.ts';
import { type FleetNumbers, measureFleet } from './measure-fleet.ts';

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1000' },
    streaming: { type: 'string', default: '300' },
    /** The bounds hold for the first; the default interval is printed beside it. */
    every: { type: 'string', multiple: true, default: ['30m', '5m'] },
    seconds: { type: 'string', default: '180' },
    /** Of all growing tables together. */
    'old-rows': { type: 'string' },
    landed: { type: 'string', default: '10000000' },
    hints: { type: 'string', default: '1000000' },
  },
});

const isFull = values['old-rows'] !== undefined;
const full = { oldRows: Number(values['old-rows']), landed: Number(values.landed), hints: Number(values.hints) };
/** Beside what a worker with one tenant takes, a second worker may take so much more of a core, percent. */
const LITTLE = 1;

async function main(): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const short: string[] = [];
  try {
    for (const [at, every] of values.every.entries()) {
      const options = {
        temporalAddress: temporal.address,
        tenants: Number(values.tenants),
        streaming: Number(values.streaming),
        seconds: Number(values.seconds),
        every,
        say: (line: string) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`),
      };
      const rows = isFull
        ? rowsOfFull(await measureFull({ ...options, ...full }))
        : rowsOf(await measureFleet(options));
      process.stdout.write(`\nReconciled every ${every}:\n${renderRows(rows, at === 0)}\n`);
      if (at === 0)
        short.push(...rows.filter(({ value, most }) => most !== undefined && value > most).map(({ what }) => what));
      if (isFull) break;
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
  /** Without it, the value is only shown. */
  most?: number;
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

function rowsOfFull({ alone, one, two, ...numbers }: FullNumbers): Row[] {
  const sum = (percents: readonly number[]): number => percents.reduce((all, percent) => all + percent, 0);
  return [
    { what: 'old rows', value: numbers.oldRows / 1e6, unit: 'million' },
    { what: 'size of the store', value: numbers.gigabytes, unit: 'GB' },
    { what: 'made in', value: numbers.fillSeconds, unit: 's' },
    { what: 'of a core, a worker with one tenant, empty store', value: sum(alone.percents), unit: '%' },
    { what: 'of a core, one worker', value: sum(one.percents), most: 5, unit: '%' },
    { what: 'of a core, the busier of two workers', value: Math.max(...two.percents), most: 5, unit: '%' },
    {
      what: 'of a core, two workers together',
      value: sum(two.percents),
      most: sum(one.percents) + sum(alone.percents) + LITTLE,
      unit: '%',
    },
    { what: 'transactions a second, one tenant, empty store', value: alone.transactions, unit: '' },
    { what: 'transactions a second, one worker', value: one.transactions, unit: '' },
    {
      what: 'transactions a second, two workers',
      value: two.transactions,
      most: 1.1 * (one.transactions + alone.transactions),
      unit: '',
    },
    { what: 'rows and entries read a second, one worker', value: one.rowsRead, unit: '' },
    { what: 'the same, two workers', value: two.rowsRead, unit: '' },
    { what: 'rows of growing tables read without index', value: one.scanned + two.scanned, most: 0, unit: '' },
    { what: 'scrape, the fastest', value: numbers.scrapeMs, most: 50, unit: 'ms' },
    { what: 'scrape, the middle one', value: numbers.middleScrapeMs, unit: 'ms' },
    { what: 'series of a scrape', value: numbers.series, most: 2_000, unit: '' },
    { what: 'kept of a landed record after retention', value: numbers.loggedBytes, most: 60, unit: 'bytes' },
    { what: 'to know it while it is listed', value: numbers.listedBytes, unit: 'bytes' },
    { what: 'hire by webhook, until it is opened', value: numbers.hireMs, unit: 'ms' },
  ];
}

function renderRows(rows: readonly Row[], isBound: boolean): string {
  const cells = rows.map(({ what, value, most, unit }) => [
    what,
    `${value.toFixed(1)} ${unit}`.trim(),
    isBound && most !== undefined ? `<= ${Number(most.toFixed(1))}` : '',
    isBound && most !== undefined && value > most ? 'FALLS SHORT' : '',
  ]);
  return renderTable(['', 'measured', 'bound', ''], cells);
}

await main();
