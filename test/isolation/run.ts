// One tenant hires while another has its worst day: npm run test:isolation -- [--case NAME] [--store postgres]
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/table.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { newDatabase } from '../harness/new-database.ts';
import { startPostgres } from '../harness/start-postgres.ts';
import { measureCase, type Outcome, percentile } from './measure-case.ts';
import { troubles } from './troubles.ts';

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true, default: Object.keys(troubles) },
    store: { type: 'string', default: 'sqlite' },
    hires: { type: 'string', default: '12' },
    every: { type: 'string', default: '3000' },
    scale: { type: 'string', default: '1' },
  },
});

const MOST_RATIO = 2;
const MOST_BLOCKED_MS = 250;
const MOST_CLOSE_MS = 10_000;

async function main(): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const postgres = values.store === 'postgres' ? await startPostgres() : undefined;
  try {
    const rows: { cells: string[]; holds: boolean }[] = [];
    for (const name of values.case) {
      const trouble = troubles[name];
      if (trouble === undefined) throw new Error(`No case "${name}". Give one of ${Object.keys(troubles).join(', ')}.`);
      const outcome = await measureCase(trouble, {
        temporalAddress: temporal.address,
        hires: Number(values.hires),
        everyMs: Number(values.every),
        scale: Number(values.scale),
        patienceMs: 300_000,
        ...(postgres === undefined ? {} : { storeUrl: await newDatabase(postgres.url) }),
      });
      process.stderr.write(`${name}: ${JSON.stringify(outcome)}\n`);
      rows.push(rowOf(name, outcome));
    }
    const head = [
      'case',
      'alone p95',
      'beside p95',
      'ratio',
      'worker blocked',
      'receiver blocked',
      'close',
      'right',
      '',
    ];
    process.stdout.write(
      `${renderTable(
        head,
        rows.map((row) => row.cells),
      )}\n`,
    );
    process.exitCode = rows.every((row) => row.holds) ? 0 : 1;
  } finally {
    await Promise.all([temporal.stop(), postgres?.stop()]);
  }
}

function rowOf(name: string, { alone, beside, blocked, close, rightAgain }: Outcome) {
  const [before, after] = [percentile(alone, 0.95), percentile(beside, 0.95)];
  const holds =
    after <= MOST_RATIO * before &&
    Math.max(blocked.worker, blocked.receiver) - blocked.idle <= MOST_BLOCKED_MS &&
    close <= MOST_CLOSE_MS &&
    rightAgain !== 'never';
  const ms = (value: number): string => `${Math.round(value)} ms`;
  const right = typeof rightAgain === 'number' ? `after ${ms(rightAgain)}` : (rightAgain ?? '-');
  const times = [before, after].map(ms);
  const loops = [blocked.worker, blocked.receiver, blocked.idle, close].map(ms);
  return { cells: [name, ...times, (after / before).toFixed(2), ...loops, right, holds ? 'ok' : 'FALLS SHORT'], holds };
}

await main();
