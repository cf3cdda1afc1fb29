// One tenant hires while another has its worst day:
// npm run test:isolation -- [--case NAME]... [--store sqlite|postgres]... [--hires N] [--every MS] [--scale 0..1]
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { judgeOutcome } from './judge-outcome.ts';
import { type CaseOptions, measureCase } from './measure-case.ts';
import { namedTroubles, troubles } from './troubles.ts';

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true, default: Object.keys(troubles) },
    store: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    hires: { type: 'string', default: '12' },
    every: { type: 'string', default: '3000' },
    scale: { type: 'string', default: '1' },
  },
});

const HEAD = [
  'store',
  'case',
  'alone p95',
  'beside p95',
  'ratio',
  'worker blocked',
  'receiver blocked',
  'idle blocked',
  'calls',
  'close',
  'right again',
  '',
];

async function main(): Promise<void> {
  const cases = namedTroubles(values.case);
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const postgres = await startPostgres();
  const rows: string[][] = [];
  try {
    for (const store of values.store)
      for (const [name, trouble] of cases) {
        // A server of its own: what one case leaves behind is no other's load.
        const temporal = await startDevServer({ cliPath: path, headless: true });
        const outcome = await measureCase(trouble, await caseOptions(store, temporal.address, postgres)).finally(() =>
          temporal.stop(),
        );
        const { cells, falls } = judgeOutcome(outcome, trouble);
        rows.push([store, name, ...cells, falls.length === 0 ? 'ok' : falls.join(', ')]);
        process.stderr.write(`${store} ${name}: ${JSON.stringify(outcome)}\n`);
        if (falls.length > 0) process.exitCode = 1;
      }
  } finally {
    if (rows.length > 0) process.stdout.write(`${renderTable(HEAD, rows)}\n`);
    await postgres.stop();
  }
}

async function caseOptions(store: string, temporalAddress: string, postgres: TestPostgres): Promise<CaseOptions> {
  return {
    temporalAddress,
    postgres: async () => postgres.url,
    hires: Number(values.hires),
    everyMs: Number(values.every),
    scale: Number(values.scale),
    patienceMs: 300_000,
    ...(store === 'postgres' ? { storeUrl: await newDatabase(postgres.url) } : {}),
  };
}

await main();
