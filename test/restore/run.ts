// A store is lost and put back: npm run test:restore -- [--only TEXT]...
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/print.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { AGES, KINDS, playRestore, STORES } from './restore.ts';

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } });

const HEAD = ['store, kind, backup', 'hires', 'employees', 'credits', 'verified', 'asked', ''];

async function main(): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const rows: string[][] = [];
  try {
    for (const store of STORES)
      for (const kind of KINDS)
        for (const age of AGES) {
          const name = `${store}, ${kind}, ${age}`;
          if (!values.only.every((text) => name.includes(text))) continue;
          rows.push([name, ...(await cellsOf({ temporalAddress: temporal.address, store, kind, age }))]);
          process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
        }
  } finally {
    await temporal.stop();
    process.stdout.write(`${renderTable(HEAD, rows)}\n`);
  }
}

async function cellsOf(options: Parameters<typeof playRestore>[0]): Promise<string[]> {
  try {
    const { hires, employees, credits, verified, asked, faults } = await playRestore(options);
    if (faults.length > 0) process.exitCode = 1;
    const questions = Object.entries(asked).map(([code, count]) => `${count} ${code}`);
    return [...[hires, employees, credits, verified].map(String), questions.join(', '), faults.join('; ') || 'ok'];
  } catch (error) {
    process.exitCode = 1;
    return ['', '', '', '', '', `broke: ${String(error).slice(0, 2_000)}`];
  }
}

await main();
