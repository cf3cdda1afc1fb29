import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { isConnectorError } from '../errors.ts';
import { describeObserved, hireStates } from '../hire/hire.ts';
import {
  type Explained,
  type ExplainedField,
  explainLanded,
  explainRecord,
  maskSensitive,
  type WrittenField,
} from '../operator/explain.ts';
import { type HireStory, type HireView, type ListedHire, readHire, startHire, viewHires } from '../operator/hires.ts';
import { type OpenTenant, streamsToPlan, withTenant } from '../operator/open-tenant.ts';
import { assertKnownStream } from '../operator/streams.ts';
import { nameOfField, type WriteView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { listHires } from '../store/hires.ts';
import type { Store } from '../store/open-store.ts';
import {
  AS,
  byOf,
  EXIT,
  example,
  type Flags,
  folded,
  limitOf,
  placesOf,
  renderListed,
  renderValue,
  say,
  shownFile,
} from './command.ts';
import { withClient, withStore } from './open.ts';

export const commands = { hire: defineHire, explain: defineExplain };

function defineHire(command: Command): void {
  command.description('List, show and start hires.');
  command
    .command('list')
    .description('List hires, latest changes first. Needs no Temporal.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .addOption(new Option('--state <state>', 'only those in one state').choices(hireStates))
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge hire list --tenant acme --state open'))
    .action(runList);
  command
    .command('show')
    .description('Show how one hire stands and what happened to it, with times. Writes nothing and needs no Temporal.')
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--verbose', 'show ids, calls and plans too, with exact times')
    .option('--wait', 'wait until the hire is over, or waits for a person; at most ten minutes')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hire show acme 5012', 'hirebridge hire show acme 5012 --wait'))
    .action(runShow);
  command
    .command('start')
    .description('Start one hire by hand. One that is under way or over stays as it is.')
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--adopt', 'also start one that was hired before go-live, or that a person ended')
    .option(...AS)
    .addHelpText('after', example('hirebridge hire start acme 5012', 'hirebridge hire start acme 5012 --adopt'))
    .option('--json', 'print JSON')
    .action(runStart);
}

interface ListOptions extends Flags {
  tenant?: string;
  state?: HireView['state'];
}

async function runList(options: ListOptions, command: Command): Promise<void> {
  const { tenant: tenantId, state } = options;
  const filter = { tenantId, state, limit: limitOf(options) };
  const hires = await withStore(command, async (store) => viewHires(store, await listHires(store, filter)), tenantId);
  say(options, hires, renderHires(hires));
}

function renderHires(hires: readonly ListedHire[]): string {
  if (hires.length === 0) return 'No hires.\n';
  const rows = hires.map((hire) => [
    hire.tenantId,
    hire.jobCandidateId,
    hire.period,
    hire.state,
    hire.waitsFor ?? '-',
    hire.employeeNumber ?? '-',
    hire.updatedAt,
  ]);
  const head = ['tenant', 'job candidate', 'period', 'state', 'waits for', 'employee number', 'changed'];
  return renderListed(head, rows);
}

interface ShowOptions extends Flags {
  verbose?: boolean;
  wait?: boolean;
}

async function runShow(tenantId: string, jobCandidateId: string, options: ShowOptions, command: Command) {
  const look = async (store: Store): Promise<HireStory> => {
    const read = async () => readHire(store, tenantId, jobCandidateId);
    const found = await (options.wait === true ? untilSettled(read) : read());
    const of = { kind: 'job-candidate', id: jobCandidateId };
    await noteLook(store, { by: byOf({}), tenantId, what: 'story of a hire', of });
    return found;
  };
  const hire = await withStore(command, look, tenantId);
  if (options.wait === true && !isSettled(hire)) process.exitCode = EXIT.partial;
  say(options, hire, options.verbose === true ? renderWhole(hire) : renderStory(hire));
}

/** The story without calls, plans and reads, which only an engineer needs. */
function renderStory({ stands, next, story }: HireStory): string {
  const lines = story
    .filter(({ kind }) => kind !== 'call' && kind !== 'plan' && kind !== 'read')
    .map(({ at, text }) => `${folded(`${at.slice(0, 16).replace('T', ' ')}  ${text}`, ' '.repeat(18))}\n`);
  return `${folded(stands)}\n${folded(next)}\n\n${lines.join('')}`;
}

function renderWhole({ stands, next, story, needsPerson: _needs, ...facts }: HireStory): string {
  const lines = story.map(({ at, kind, text }) => `${at}  ${kind.padEnd(6)}  ${text}\n`);
  return `${stands}\n${next}\n\n${renderHire(facts)}\n${lines.join('')}`;
}

const MOST_WAIT_MS = 600_000;

/** Waits until the hire is over or waits for a person, and returns it; after a time limit returns it as it is. */
async function untilSettled(read: () => Promise<HireStory>): Promise<HireStory> {
  const end = performance.now() + MOST_WAIT_MS;
  for (;;) {
    try {
      const hire = await read();
      if (isSettled(hire) || performance.now() > end) return hire;
    } catch (error) {
      // A webhook that was just stored will open the hire in a moment.
      if (!isConnectorError(error, 'HIRE_UNKNOWN') || performance.now() > end) throw error;
    }
    await pause(250);
  }
}

function isSettled({ state, needsPerson }: HireStory): boolean {
  return state !== 'open' || needsPerson;
}

function renderHire(hire: HireView): string {
  return Object.entries(hire)
    .map(([name, value]) => `${name.padEnd(22)}  ${shown(value)}\n`)
    .join('');
}

function shown(value: HireView[keyof HireView]): string | number {
  return typeof value === 'object' && value !== null ? `would ${describeObserved(value)}` : (value ?? '-');
}

async function runStart(
  tenantId: string,
  jobCandidateId: string,
  options: Flags & { adopt?: boolean },
  command: Command,
): Promise<void> {
  const request = { tenantId, jobCandidateId, adopt: options.adopt === true, by: byOf(options) };
  const result = await withClient(await placesOf(command), (parts) => startHire(parts, request), tenantId);
  const { workflowId, started, hire } = result;
  const outcome = started
    ? `Asked for as ${workflowId}: it starts if the hiring platform shows the person in a hiring stage.`
    : 'Not started: it is under way or over, as it stands below.';
  const next = `Follow it with: hirebridge hire show ${tenantId} ${jobCandidateId}`;
  const stands = started || hire === undefined ? '' : renderHire(hire);
  say(options, { workflowId, started, hire }, `${outcome} ${next}\n${stands}`);
}

function defineExplain(command: Command): void {
  command
    .description(
      'Explain every field of a hire, or of a record that a stream lands: source value, rule with file and line, ' +
        'each step, what was planned and written, when and by whom, and what the HR system holds. Reads both sides; ' +
        'writes nothing there. Fields that the mapping calls sensitive are masked.',
    )
    .argument('<tenant>', 'tenant of the record')
    .argument('<record>', "the partner's id of the job candidate; with --stream of the job or candidate")
    .option('--stream <stream>', 'a record of this stream (jobs, candidates), not a hire')
    .option('--reveal', 'show sensitive values too; the audit trail records who did')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge explain acme 5012', 'hirebridge explain acme 101 --stream jobs'))
    .action(runExplain);
}

interface ExplainOptions extends Flags {
  stream?: string;
  reveal?: boolean;
}

async function runExplain(tenantId: string, id: string, options: ExplainOptions, command: Command): Promise<void> {
  if (options.stream !== undefined) assertKnownStream(options.stream);
  const explained = await withStore(command, (store, places) =>
    withTenant({ store, places, tenantId }, (open) => explain(open, id, options)),
  );
  say(options, explained, render(explained));
}

async function explain(open: OpenTenant, id: string, options: ExplainOptions): Promise<Explained> {
  const { stream, reveal = false } = options;
  const [landed] = stream === undefined ? [] : streamsToPlan(open.connection, stream);
  const explained =
    landed === undefined
      ? await explainRecord(open, id, reveal)
      : await explainLanded(open, { stream: landed, id }, reveal);
  const what = stream === undefined ? 'why each value of a hire' : `why each value of a record of ${stream}`;
  const of = { kind: KINDS[stream ?? ''] ?? stream ?? 'job-candidate', id };
  await noteLook(open.store, { by: byOf(options), tenantId: open.tenant.tenant, what, of, isRevealed: reveal });
  return reveal ? explained : maskSensitive(explained);
}

/** Streams whose records are people, with ids that other audit entries use as well. */
const KINDS: Readonly<Record<string, string>> = { candidates: 'candidate', applications: 'job-candidate' };

function render({ mapping, plan, employee, fields, writes, destinations = [] }: Explained): string {
  const head = [`mapping ${mapping}`];
  if (plan !== undefined) head.push(renderPlan(plan));
  if (employee !== null) head.push(`employee ${employee.id}, number ${employee.number ?? 'not given'}`);
  const story = writes.length === 0 ? 'nothing was written yet\n' : `written\n${writes.map(renderWrite).join('')}`;
  return [`${head.join('; ')}\n`, ...fields.map(renderField), ...destinations.map(renderDestination), story].join('\n');
}

function renderDestination(one: NonNullable<Explained['destinations']>[number]): string {
  const { destination, mapping, state = 'not begun', account = null, plan, fields } = one;
  const head = [`destination ${destination}: ${state}`, `mapping ${mapping}`];
  if (plan !== undefined) head.push(`decision: ${plan}`);
  if (account !== null) head.push(`account ${account}`);
  return [`${head.join('; ')}\n`, ...fields.map(renderField)].join('\n');
}

function renderPlan({ plannedAt, mapping, decision, appliedAt, purged }: NonNullable<Explained['plan']>): string {
  const what = purged ? 'values purged' : `decision: ${decision ?? 'none'}`;
  const state = appliedAt === null ? 'not written yet' : `written ${appliedAt}`;
  return `planned ${plannedAt} by mapping ${mapping}, ${what}, ${state}`;
}

function renderField({ field, rule, file, line, readAt, steps, written, ...rest }: ExplainedField): string {
  const result = rest.problem === undefined ? renderValue(rest.value, 'left out') : `nothing: ${rest.problem}`;
  const lines = [
    ['rule', `${rule}  ${shownFile(file)}:${line}`],
    ...(readAt === undefined ? [] : [['read at', readAt]]),
    ...steps.map(({ step, value }) => [step, renderValue(value)]),
    ['gives', result],
    ...('planned' in rest ? [['planned', renderValue(rest.planned)]] : []),
    ...(written === undefined ? [] : [['written', renderWritten(written)]]),
    ...('held' in rest ? [['in the HR system', renderValue(rest.held)]] : []),
  ];
  return `${field}\n${lines.map(([what = '', shown = '']) => `  ${what.padEnd(20)}  ${shown}\n`).join('')}`;
}

function renderWritten({ at, by, mapping, outcome, purgedAt, ...values }: WrittenField): string {
  const old = 'old' in values ? ` (was ${renderValue(values.old)})` : '';
  const value = purgedAt === null ? `${renderValue(values.value)}${old}` : `value purged ${purgedAt}`;
  return `${value}, ${at} by ${by}, mapping ${mapping ?? 'none'}, ${outcome}`;
}

function renderWrite(write: WriteView): string {
  const { at, kind, target, foreignId, outcome, verifiedAt, run, mapping } = write;
  const fields = write.fields.map((field) => nameOfField(write, field));
  const where = foreignId === null ? '' : ` ${foreignId}`;
  const read = verifiedAt === null ? '' : `, read back ${verifiedAt}`;
  const of = `run ${run.slice(0, 36)}, mapping ${mapping ?? 'none'}`;
  return `  ${at}  ${kind} ${target}${where}: ${fields.join(', ')}; ${outcome}${read}; ${of}\n`;
}
