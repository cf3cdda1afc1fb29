import { relative } from 'node:path';
import type { Command } from 'commander';
import type { Explained, ExplainedField, WrittenField } from '../operator/explain.ts';
import { explainLanded, explainRecord, maskSensitive } from '../operator/explain.ts';
import { type OpenTenant, streamsToPlan, withTenant } from '../operator/open-tenant.ts';
import { assertKnownStream } from '../operator/streams.ts';
import type { WriteView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import { asOption, byOf, example, placesOf, print, printJson } from './command.ts';
import { withStore } from './open.ts';

export function defineExplain(command: Command): void {
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
    .option('--json', 'print JSON');
  asOption(command)
    .addHelpText('after', example('hirebridge explain acme 5012', 'hirebridge explain acme 101 --stream jobs'))
    .action(runExplain);
}

interface ExplainOptions {
  stream?: string;
  reveal?: boolean;
  as?: string;
  json?: boolean;
}

async function runExplain(tenantId: string, id: string, options: ExplainOptions, command: Command): Promise<void> {
  const places = await placesOf(command);
  if (options.stream !== undefined) assertKnownStream(options.stream);
  const explained = await withStore(
    places,
    (store) => withTenant({ store, places, tenantId }, (open) => explain(open, id, options)),
    { mustExist: true },
  );
  if (options.json === true) printJson(explained);
  else print(render(explained));
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
  const near = relative(process.cwd(), file);
  const result = rest.problem === undefined ? text(rest.value, 'left out') : `nothing: ${rest.problem}`;
  const lines = [
    ['rule', `${rule}  ${near.startsWith('..') ? file : near}:${line}`],
    ...(readAt === undefined ? [] : [['read at', readAt]]),
    ...steps.map(({ step, value }) => [step, text(value, 'empty')]),
    ['gives', result],
    ...('planned' in rest ? [['planned', text(rest.planned, 'empty')]] : []),
    ...(written === undefined ? [] : [['written', renderWritten(written)]]),
    ...('held' in rest ? [['held there', text(rest.held, 'empty')]] : []),
  ];
  return `${field}\n${lines.map(([what = '', shown = '']) => `  ${what.padEnd(20)}  ${shown}\n`).join('')}`;
}

function renderWritten({ at, by, mapping, outcome, purgedAt, ...values }: WrittenField): string {
  const old = 'old' in values ? ` (was ${text(values.old, 'empty')})` : '';
  const value = purgedAt === null ? `${text(values.value, 'empty')}${old}` : `value purged ${purgedAt}`;
  return `${value}, ${at} by ${by}, mapping ${mapping ?? 'none'}, ${outcome}`;
}

function renderWrite({ at, kind, target, foreignId, fields, outcome, verifiedAt, run, mapping }: WriteView): string {
  const where = foreignId === null ? '' : ` ${foreignId}`;
  const read = verifiedAt === null ? '' : `, read back ${verifiedAt}`;
  const of = `run ${run.slice(0, 36)}, mapping ${mapping ?? 'none'}`;
  return `  ${at}  ${kind} ${target}${where}: ${fields.join(', ')}; ${outcome}${read}; ${of}\n`;
}

function text(value: unknown, none: string): string {
  return value === undefined || value === null ? none : JSON.stringify(value);
}
