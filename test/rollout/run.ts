// A roll-out by worker versions on Temporal as it runs in production: npm run test:rollout -- [--hires N] [--dev]
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { buildServer } from '../temporal-production/build-server.ts';
import { startServer } from '../temporal-production/start-server.ts';
import { faultsOf, rollOut } from './roll-out.ts';

const { values } = parseArgs({
  options: { hires: { type: 'string', default: '200' }, dev: { type: 'boolean', default: false } },
});

async function main(): Promise<void> {
  const hires = Number(values.hires);
  const { path: cli } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const binaries = values.dev ? undefined : await buildServer();
  const postgres = await startPostgres();
  const logFile = join(tmpdir(), `hirebridge-temporal-${process.pid}.log`);
  const server =
    binaries === undefined
      ? await startDevServer({ cliPath: cli, headless: true })
      : await startServer({ ...binaries, cli, postgresUrl: postgres.url, logFile });
  try {
    const storeUrl = await newDatabase(postgres.url);
    const rolledOut = await rollOut({ temporalAddress: server.address, storeUrl, hires });
    const faults = faultsOf(rolledOut, hires);
    process.stdout.write(`${JSON.stringify(rolledOut, null, 2)}\n`);
    process.stdout.write(
      faults.length === 0 ? 'rolled out and back: nothing lost, nothing twice\n' : faults.join('\n'),
    );
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
    await postgres.stop();
  }
}

await main();
