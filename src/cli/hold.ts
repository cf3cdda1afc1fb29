import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { HoldView } from '../operator/read-holds.ts';
import { age } from './ages.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { renderTable } from './table.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';
import { withStore } from './with-store.ts';

export function addHold(program: Command): void {
  const hold = program.command('hold').description('List, show and answer what waits for a person.');
  hold
    .command('list')
    .description('List open holds.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .option('--all', 'include closed ones')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hold list --tenant acme'))
    .action(runList);
  hold
    .command('show')
    .description('Show one hold: why it waits, since when, and the answers it accepts.')
    .argument('<hold>', 'id of the hold')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hold show 1f2e3d4c'))
    .action(runShow);
  hold
    .command('answer')
    .description('Answer a hold; its hire reads and plans again and continues where it stopped.')
    .argument('<hold>', 'id of the hold')
    .argument('<answer>', 'one of the answers that `hold show` lists')
    .argument('[arguments...]', 'what the answer takes, for example an employee id')
    .option('--as <name>', 'who answers; by default the user of this system')
    .addHelpText('after', example('hirebridge hold answer 1f2e3d4c retry'))
    .action(runAnswer);
}

async function runList(options: { tenant?: string; all?: boolean; json?: boolean }, command: Command): Promise<void> {
  const { listHolds } = await import('../operator/read-holds.ts');
  const filter = { ...(options.tenant === undefined ? {} : { tenantId: options.tenant }), all: options.all === true };
  const holds = await withStore(placesOf(command), (store) => listHolds(store, filter));
  if (options.json === true) return printJson(holds);
  const rows = holds.map(({ holdId, tenantId, jobCandidateId, state, ageMs, code }) => [
    holdId,
    tenantId,
    jobCandidateId ?? '(tenant)',
    state,
    age(ageMs),
    code,
  ]);
  const head = ['hold', 'tenant', 'job candidate', 'state', 'age', 'reason'];
  process.stdout.write(`${rows.length === 0 ? 'No holds.' : renderTable(head, rows)}\n`);
}

async function runShow(holdId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const { readHold } = await import('../operator/read-holds.ts');
  const hold = await withStore(placesOf(command), (store) => readHold(store, holdId));
  if (options.json === true) printJson(hold);
  else process.stdout.write(renderHold(hold));
}

function renderHold(hold: HoldView): string {
  const [first] = hold.answers;
  const hire = hold.jobCandidateId === null ? '' : `, job candidate ${hold.jobCandidateId}, period ${hold.period}`;
  const lines = [
    `hold ${hold.holdId}: ${hold.code} (${hold.state})`,
    hold.message,
    `tenant ${hold.tenantId}${hire}`,
    `opened ${hold.openedAt}`,
    `details ${JSON.stringify(hold.details)}`,
    `answers: ${hold.answers.join(', ')}`,
    ...(hold.answer === null ? [] : [`answered ${hold.answer} by ${hold.answeredBy ?? 'unknown'}`]),
    ...(first === undefined ? [] : [`next: hirebridge hold answer ${hold.holdId} ${first}`]),
  ];
  return `${lines.join('\n')}\n`;
}

async function runAnswer(
  holdId: string,
  answer: string,
  args: string[],
  options: { as?: string },
  command: Command,
): Promise<void> {
  const places = placesOf(command);
  const by = options.as ?? userInfo().username;
  await useEmbeddedTemporal(places.dataDir);
  const [{ answerHold }, { withClient }] = await Promise.all([
    import('../operator/answer-hold.ts'),
    import('./with-client.ts'),
  ]);
  await withClient(places, (parts) => answerHold(parts, { holdId, answer, arguments: args, by }));
  process.stdout.write(`Answered ${holdId} with ${answer}. Follow it with: hirebridge status\n`);
}
