import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import type { HoldRow } from '../store/schema.ts';
import { age } from './ages.ts';
import { example, placesOf } from './options.ts';
import { renderTable } from './table.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';
import { withStore } from './with-store.ts';

export function addHold(program: Command): void {
  const hold = program.command('hold').description('List, read and answer what waits for a person.');
  hold
    .command('list')
    .description('List open holds.')
    .option('--tenant <tenant>', 'of one tenant')
    .option('--all', 'closed ones too')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hold list --tenant acme'))
    .action(runList);
  hold
    .command('show')
    .description('Show one hold: why, since when, and the answers it accepts.')
    .argument('<hold>', 'id of the hold')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hold show 1f2e3d4c'))
    .action(runShow);
  hold
    .command('answer')
    .description('Answer a hold; its hire reads and plans anew and goes on where it stopped.')
    .argument('<hold>', 'id of the hold')
    .argument('<answer>', 'one of the answers that `hold show` lists')
    .argument('[arguments...]', 'what the answer takes, for example an employee id')
    .addHelpText('after', example('hirebridge hold answer 1f2e3d4c retry'))
    .action(runAnswer);
}

async function runList(options: { tenant?: string; all?: boolean; json?: boolean }, command: Command): Promise<void> {
  const { listHolds } = await import('../store/holds.ts');
  const filter = { ...(options.tenant === undefined ? {} : { tenantId: options.tenant }), all: options.all === true };
  const holds = await withStore(placesOf(command), (store) => listHolds(store, filter));
  if (options.json === true) return printJson(holds.map(facts));
  const rows = holds.map((hold) => [
    hold.hold_id,
    hold.tenant_id,
    hold.job_candidate_id ?? '(tenant)',
    stateOf(hold),
    age(hold.now - hold.opened_at),
    hold.code,
  ]);
  const text =
    rows.length === 0 ? 'No holds.' : renderTable(['hold', 'tenant', 'job candidate', 'state', 'age', 'reason'], rows);
  process.stdout.write(`${text}\n`);
}

async function runShow(holdId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const { readHold } = await import('../store/holds.ts');
  const row = await withStore(placesOf(command), (store) => readHold(store, holdId));
  if (row === undefined) throw unknownHold(holdId);
  const hold = facts(row);
  if (options.json === true) return printJson(hold);
  const lines = [
    `hold ${hold.holdId}: ${hold.code} (${hold.state})`,
    hold.message,
    `tenant ${hold.tenantId}${hold.jobCandidateId === null ? '' : `, job candidate ${hold.jobCandidateId}, period ${hold.period}`}`,
    `opened ${hold.openedAt}`,
    `details ${JSON.stringify(hold.details)}`,
    `answers: ${hold.answers.join(', ')}`,
    ...(hold.answers[0] === undefined ? [] : [`next: hirebridge hold answer ${hold.holdId} ${hold.answers[0]}`]),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function runAnswer(
  holdId: string,
  answer: string,
  args: string[],
  _options: unknown,
  command: Command,
): Promise<void> {
  const places = placesOf(command);
  await useEmbeddedTemporal(places.dataDir);
  const { answerHold } = await import('./answer-hold.ts');
  await answerHold({ ...places, holdId, answer, arguments: args });
  process.stdout.write(`Answered ${holdId} with ${answer}. Follow it with: hirebridge status\n`);
}

function facts(row: HoldRow) {
  return {
    holdId: row.hold_id,
    tenantId: row.tenant_id,
    jobCandidateId: row.job_candidate_id,
    period: row.period,
    code: row.code,
    message: row.message,
    state: stateOf(row),
    answers: JSON.parse(row.answers) as string[],
    details: JSON.parse(row.details) as Record<string, unknown>,
    openedAt: new Date(row.opened_at).toISOString(),
    answer: row.answer,
  };
}

function stateOf(row: HoldRow): 'open' | 'answered' | 'closed' {
  if (row.closed_at !== null) return 'closed';
  return row.answered_at === null ? 'open' : 'answered';
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

function unknownHold(holdId: string): ConnectorError {
  return new ConnectorError({
    code: 'HOLD_UNKNOWN',
    action: 'reject',
    message: `There is no hold ${holdId} in this store. List them with: hirebridge hold list --all`,
  });
}
