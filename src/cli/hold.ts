import type { Command } from 'commander';
import { explainedAt } from '../docs.ts';
import { entryOf } from '../hire/answers.ts';
import { age, count } from '../in-words.ts';
import {
  answerDoes,
  answerHold,
  answerHolds,
  detailsOf,
  type HoldView,
  listHolds,
  type ManyAnswered,
  readHold,
} from '../operator/holds.ts';
import { AS, byOf, EXIT, example, type Flags, folded, placesOf, renderTable, say } from './command.ts';
import { withClient, withStore } from './open.ts';

export const commands = { hold: defineHold };

function defineHold(command: Command): void {
  command.description('List, show and answer what waits for a person.');
  command
    .command('list')
    .description('List open holds; those with the same reason are counted together.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .option('--code <code>', 'only those with one reason, each in a line of its own')
    .option('--all', 'include closed ones')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('hirebridge hold list --tenant acme', 'hirebridge hold list --code MAPPING_INCOMPLETE'),
    )
    .action(runList);
  command
    .command('show')
    .description('Show one hold: why it waits, since when, and the answers it accepts.')
    .argument('<hold>', 'id of the hold')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hold show 1f2e3d4c'))
    .action(runShow);
  command
    .command('answer')
    .description(
      'Answer a hold, or with --all every open hold of one reason; their hires read and plan again and continue.',
    )
    .argument('<hold>', 'id of the hold; with --all a reason, for example MAPPING_INCOMPLETE')
    .argument('<answer>', 'one of the answers that `hold show` lists')
    .argument('[ids...]', 'what the answer takes, for example an employee id')
    .option('--all', 'answer every open hold of one reason')
    .option('--tenant <tenant>', 'with --all: only those of one tenant')
    .option(
      '--until <hold>',
      'with --all: only those opened by the time of this one, the last that you saw; only retry goes without',
    )
    .option(...AS)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example(
        'hirebridge hold answer 1f2e3d4c link 4711',
        'hirebridge hold answer --all MAPPING_INCOMPLETE retry --tenant acme --until 1f2e3d4c',
      ),
    )
    .action(runAnswer);
}

interface ListOptions extends Flags {
  tenant?: string;
  code?: string;
  all?: boolean;
}

/** At most this many holds of one code are listed; the others are counted. */
const MOST_OF_ONE = 3;

async function runList(options: ListOptions, command: Command): Promise<void> {
  const { tenant: tenantId, code, all = false } = options;
  const found = await withStore(command, (store) => listHolds(store, { tenantId, all }), tenantId);
  const holds = found.filter((hold) => code === undefined || hold.code === code);
  const most = code === undefined ? MOST_OF_ONE : holds.length;
  say(options, holds, () => renderGroups(groupHolds(holds), most));
}

type Held = HoldView & { ageMs: number };

interface HoldGroup {
  tenantId: string;
  code: string;
  /** Oldest first. */
  holds: Held[];
}

/** Largest group first. */
function groupHolds(holds: readonly Held[]): HoldGroup[] {
  const groups = Map.groupBy(holds, ({ tenantId, code }) => `${tenantId} ${code}`);
  return [...groups.values()]
    .flatMap((own) => (own[0] === undefined ? [] : [{ tenantId: own[0].tenantId, code: own[0].code, holds: own }]))
    .sort((a, b) => b.holds.length - a.holds.length);
}

function renderGroups(groups: readonly HoldGroup[], most: number): string {
  if (groups.length === 0) return 'No holds.\n';
  const rows = groups.flatMap(({ holds }) =>
    holds
      .slice(0, most)
      .map((hold) => [
        hold.holdId,
        hold.tenantId,
        hold.jobCandidateId ?? '(tenant)',
        hold.state,
        age(hold.ageMs),
        hold.code,
      ]),
  );
  const table = renderTable(['hold', 'tenant', 'job candidate', 'state', 'age', 'reason'], rows);
  const many = groups.filter(({ holds }) => holds.length > 1).map((group) => renderMany(group, most));
  const isAsked = groups.some(({ holds }) => holds.some(({ state }) => state === 'open'));
  const next = isAsked ? ['How to answer one: hirebridge hold show ID'] : [];
  return [table, ...many, ...next].join('\n\n').concat('\n');
}

/** The number of holds with one code, and the answers for all; an answer that needs an id is for a single hold. */
function renderMany({ tenantId, code, holds }: HoldGroup, most: number): string {
  const open = holds.filter(({ state }) => state === 'open');
  const left = holds.length - most;
  const over = holds.length - open.length;
  const waiting =
    over === 0 ? `${open.length} of ${tenantId} wait` : `${open.length} of ${tenantId} wait, ${over} no more,`;
  const lines = [`${waiting} for the same reason: ${code}`];
  if (left > 0) lines.push(`  the other ${left}: hirebridge hold list --code ${code} --tenant ${tenantId}`);
  const shared = (open[0]?.answerTexts ?? []).filter((text) => !text.includes('<'));
  const which = `--tenant ${tenantId} --until ${open.at(-1)?.holdId}`;
  if (shared.length > 0) lines.push(`  for all of them: hirebridge hold answer --all ${code} ANSWER ${which}`);
  if (shared.length > 0) lines.push(`  where ANSWER is one of: ${shared.join(', ')}`);
  return lines.join('\n');
}

async function runShow(holdId: string, options: Flags, command: Command): Promise<void> {
  const hold = await withStore(command, (store) => readHold(store, holdId));
  say(options, hold, renderHold(hold));
}

type ShownHold = Awaited<ReturnType<typeof readHold>>;

function renderHold(hold: ShownHold): string {
  const hire = hold.jobCandidateId === null ? '' : `, job candidate ${hold.jobCandidateId}, period ${hold.period}`;
  const place = explainedAt(hold.code);
  const lines = [
    `hold ${hold.holdId}: ${hold.code} (${hold.state})`,
    hold.message,
    ...(place === undefined ? [] : [`See: ${place}`]),
    `tenant ${hold.tenantId}${hire}`,
    `opened ${hold.openedAt}`,
    ...detailsOf(hold).map(([name, value]) => `${name}: ${value}`),
    ...(hold.code === 'MAPPING_INCOMPLETE' && hire !== ''
      ? [`${EXPLAINED}: hirebridge explain ${hold.tenantId} ${hold.jobCandidateId}`]
      : []),
    ...hold.earlierAnswers.map(({ answer, by, at }) => `answered ${answer} by ${by ?? 'unknown'} ${at}; still so`),
    ...(hold.answer === null ? [] : [`answered ${hold.answer} by ${hold.answeredBy ?? 'unknown'}`]),
    ...nextLines(hold),
  ];
  return `${lines.join('\n')}\n`;
}

const EXPLAINED = 'Each value and its rule, with file and line';

const INDENT = ' '.repeat(6);

/** Every command that the hold accepts, and what it does; `<...>` is the id that the answer needs. */
function nextLines({ holdId, state, answers, answerTexts, askedNow, jobCandidateId }: ShownHold): string[] {
  if (state !== 'open') return askedNow === undefined ? [] : [`What is asked now: hirebridge hold show ${askedNow}`];
  if (answerTexts.length === 0) return ['It needs no answer: it closes by itself once the cause is gone.'];
  const lines = answers.map((answer, at) => {
    const does = folded(answerDoes(answer, jobCandidateId !== null), INDENT, 80 - INDENT.length);
    return `  hirebridge hold answer ${holdId} ${answerTexts[at]}\n${INDENT}${does}`;
  });
  return ['Answer it with one of:', ...lines];
}

interface AnswerOptions extends Flags {
  all?: boolean;
  tenant?: string;
  until?: string;
}

async function runAnswer(
  hold: string,
  answer: string,
  args: string[],
  options: AnswerOptions,
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  const by = byOf(options);
  const { all, tenant, until } = options;
  for (const [name, value] of Object.entries({ tenant, until }))
    if (all !== true && value !== undefined) command.error(`error: --${name} needs --all`);
  if (all !== true) {
    const of = await withClient(places, (parts) => answerHold(parts, { holdId: hold, answer, arguments: args, by }));
    return say(options, { answered: hold, answer, holds: 1 }, answeredText(hold, answer, of));
  }
  if (args.length > 0) command.error('error: an answer with an id is for one hold; leave out --all');
  const which = { code: hold, tenantId: tenant, until };
  const many = await withClient(places, (parts) => answerHolds(parts, which, { answer, by }));
  const { answered, left, since } = many;
  if (answered.length === 0) process.exitCode = EXIT.refused;
  say(
    options,
    { answered: hold, answer, holds: answered.length, ids: answered, left, since },
    answeredManyText(many, hold, answer),
  );
}

/** The message for the person who answered; `of`: whom a single hold was about. */
export function answeredText(
  answered: string,
  answer: string,
  of?: Pick<HoldView, 'tenantId' | 'jobCandidateId'>,
): string {
  const { waitsFor } = entryOf(answer) ?? {};
  const id = of?.jobCandidateId ?? undefined;
  const follow = id === undefined ? 'status' : `hire show ${of?.tenantId} ${id}`;
  const lines = [`Answered ${answered} with ${answer}. Follow it with: hirebridge ${follow}`, waitsFor ?? []];
  return `${lines.flat().join('\n')}\n`;
}

/** The message for the person who gave one answer to many holds. */
export function answeredManyText(
  { answered, left, since }: ManyAnswered & { since: number },
  code: string,
  answer: string,
): string {
  const later =
    `${count(since, 'hold')} of ${code} ${since === 1 ? 'was' : 'were'} opened since, and not answered. ` +
    `Look at what waits: hirebridge hold list --code ${code}\n`;
  return [
    answeredText(`${count(answered.length, 'hold')} of ${code}`, answer),
    ...left.map(({ holdId, why }) => `Hold ${holdId} stays as it is: ${why}\n`),
    ...(since === 0 ? [] : [later]),
  ].join('');
}
