// The fleet test on Temporal as it runs in production: npm run test:temporal-production -- [TEST FILE]...
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../src/counterparts/start-postgres.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { buildServer } from './build-server.ts';
import { startServer } from './start-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const given = process.argv.slice(2);
const files = given.length === 0 ? ['test/slow/fleets.test.ts'] : given;

async function main(): Promise<void> {
  const binaries = await buildServer();
  const { path: cli } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const postgres = await startPostgres();
  const logFile = join(tmpdir(), `hirebridge-temporal-${process.pid}.log`);
  try {
    const server = await startServer({ ...binaries, cli, postgresUrl: postgres.url, logFile });
    process.stderr.write(`Temporal's server at ${server.address}, its log in ${logFile}\n`);
    process.exitCode = await runTests(server.address);
    await server.stop();
  } finally {
    await postgres.stop();
  }
}

function runTests(address: string): Promise<number> {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--project', 'e2e', '--project', 'slow', ...files];
  const env = { ...process.env, HIREBRIDGE_TEST_TEMPORAL: address };
  // By this Node: whichever is first on PATH may be too old.
  const tests = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' });
  return new Promise((resolve) => tests.once('close', (code) => resolve(code ?? 1)));
}

await main();
