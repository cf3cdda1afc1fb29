import { styleText } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { noteFigures } from '../docs/figures.ts';
import { describe, profiles } from './cases.ts';
import { isAsExpected, type Outcome, playProfile } from './play-profile.ts';

const columns = ['enrolments', 'credits', 'employees', 'holds', 'verified'] as const;

/** Plays every lost answer in every profile (or those whose name holds `--only TEXT`) and prints the table. */
async function main(): Promise<void> {
  const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : '';
  const chosen = profiles.filter(({ name }) => name.includes(only ?? ''));
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const [temporal, postgres] = await Promise.all([startDevServer({ cliPath: path }), startPostgres()]);
  const outcomes: Outcome[] = [];
  try {
    for (const profile of chosen) {
      const started = performance.now();
      const databaseUrl = await newDatabase(postgres.url);
      const common = { temporalAddress: temporal.address, databaseUrl, lateMs: 10_000, timeoutMs: 180_000 };
      outcomes.push(...(await playProfile({ profile, ...common })));
      process.stderr.write(`${profile.name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
    }
  } finally {
    await Promise.all([temporal.stop(), postgres.stop()]);
  }
  const head = ['lost answer', 'HRIS', ...columns, 'the other side', 'as expected'];
  process.stdout.write(`${renderTable(head, outcomes.map(row))}\n`);
  const good = outcomes.filter(isAsExpected);
  process.stdout.write(`${good.length} of ${outcomes.length} as expected\n`);
  if (only === '')
    noteFigures('lost answers', [
      { what: 'played', value: outcomes.length },
      { what: 'settled', value: good.length },
    ]);
  process.exitCode = good.length === outcomes.length ? 0 : 1;
}

function row(outcome: Outcome): string[] {
  const { one, profile, expected, seen, struck } = outcome;
  const cells = columns.map((name) =>
    seen[name] === expected[name] ? String(seen[name]) : `${seen[name]} (${expected[name]})`,
  );
  const verdict = isAsExpected(outcome) ? 'yes' : styleText('red', 'NO');
  return [describe(one), profile, ...cells, struck ?? 'never struck', verdict];
}

await main();
