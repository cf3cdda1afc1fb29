// A store is lost and put back: npm run test:restore -- [--only TEXT]... [--at-once N]
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { startHrisSource } from '../harness/start-hris-source.ts';
import { AGES, KINDS, playRestore, type RestoreOptions, STORES } from './restore.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    // Half of its time a combination waits for schedules, the customer's job and processes that start.
    'at-once': { type: 'string', default: '4' },
  },
});

const HEAD = ['store, kind, backup', 's', 'hires', 'employees', 'credits', 'verified', 'asked', ''];

async function main(): Promise<void> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const combinations = STORES.flatMap((store) => KINDS.flatMap((kind) => AGES.map((age) => ({ store, kind, age }))))
    .map((one) => ({ ...one, name: `${one.store}, ${one.kind}, ${one.age}` }))
    .filter(({ name }) => values.only.every((text) => name.includes(text)));
  const sources = new Map(await Promise.all(KINDS.map(async (kind) => [kind, await startHrisSource(kind)] as const)));
  const rows: string[][] = [];
  const waiting = combinations.values();
  const playOn = async (): Promise<void> => {
    for (const { name, ...one } of waiting) {
      const begin = performance.now();
      const cells = await cellsOf({ temporalAddress: temporal.address, source: sources.get(one.kind), ...one });
      const row = [name, `${Math.round((performance.now() - begin) / 1_000)}`, ...cells];
      rows.push(row);
      process.stderr.write(`${row.join(' | ')}\n`);
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values['at-once']) }, playOn));
  } finally {
    for (const source of sources.values()) await source?.stop();
    await temporal.stop();
    process.stdout.write(`${renderTable(HEAD, rows)}\n`);
  }
}

async function cellsOf(options: RestoreOptions): Promise<string[]> {
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
