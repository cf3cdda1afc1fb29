import { parseArgs, styleText } from 'node:util';
import pLimit from 'p-limit';
import { renderTable } from '../../src/cli/command.ts';
import { quirkNames } from '../../src/sandbox/quirks.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { startHrisSource } from '../harness/start-hris-source.ts';
import { departures } from './departures.ts';
import { lostAnswers } from './lost-answers.ts';
import { changingMinds, graceScenario } from './minds.ts';
import { onboarding } from './onboarding.ts';
import { people } from './people.ts';
import { type Counts, isAsExpected, type Outcome, play } from './scenario.ts';
import { stores } from './stores.ts';
import { strangers } from './strangers.ts';

const scenarios = [
  ...people,
  ...changingMinds,
  graceScenario,
  ...departures,
  ...onboarding,
  ...stores,
  ...strangers,
  ...lostAnswers,
];
const columns = ['enrolments', 'credits', 'employees', 'holds', 'verified'] as const;

const { values } = parseArgs({
  options: {
    /** Part of the names to play. */
    only: { type: 'string', default: '' },
    /** `quirks`: the partner has every quirk of the sandbox. */
    partner: { type: 'string', default: 'plain' },
    /** The kind whose counterpart is the HR system; an SQL table without it. */
    hris: { type: 'string', default: 'sql' },
  },
});

/** Plays every scenario, or those asked for, two at a time, and prints the table. */
async function main(): Promise<void> {
  const played = scenarios.filter(({ hris }) => hris === undefined || hris === values.hris);
  const chosen = played.filter((one) => one.name.includes(values.only));
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const hris = await startHrisSource(values.hris);
  const temporal = await startDevServer({ cliPath: path });
  const quirks = values.partner === 'quirks' ? quirkNames : [];
  const stage = { temporalAddress: temporal.address, quirks, hris };
  const limit = pLimit(2);
  let finished = 0;
  const outcomes = await Promise.all(
    chosen.map((scenario) =>
      limit(async () => {
        const outcome = await play(scenario, stage);
        finished += 1;
        const verdict = isAsExpected(outcome) ? 'ok' : `NOT AS EXPECTED ${outcome.error ?? ''}`;
        process.stderr.write(
          `${finished}/${chosen.length} ${outcome.name}: ${verdict} (${outcome.seconds.toFixed(1)} s)\n`,
        );
        return outcome;
      }),
    ),
  );
  await Promise.all([temporal.stop(), hris?.stop()]);
  process.stdout.write(`${renderTable(['scenario', ...columns, 'as expected'], outcomes.map(row))}\n`);
  const wrong = outcomes.filter((outcome) => !isAsExpected(outcome));
  for (const { name, error } of wrong) process.stdout.write(`${name}: ${error ?? 'other counts than expected'}\n`);
  process.stdout.write(`${outcomes.length - wrong.length} of ${outcomes.length} as expected\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

function row(outcome: Outcome): string[] {
  const cells = columns.map((name) => cell(outcome.expected, outcome.seen, name));
  return [outcome.name, ...cells, isAsExpected(outcome) ? 'yes' : styleText('red', 'NO')];
}

function cell(expected: Counts, seen: Counts | undefined, name: keyof Counts): string {
  if (seen === undefined) return `? (${expected[name]})`;
  return seen[name] === expected[name] ? String(seen[name]) : `${seen[name]} (${expected[name]})`;
}

await main();
