/** Writes docs/reference.md from the code: `node test/docs/reference.ts > docs/reference.md`. */
import { type Argument, Command } from 'commander';
import { Registry } from 'prom-client';
import { wrap } from '../../src/cli/command.ts';
import { GROUPS, type Listed } from '../../src/cli/program.ts';
import { type Answer, answers, type HoldEntry } from '../../src/hire/answers.ts';
import type { HireState, HireStep } from '../../src/hire/hire.ts';
import { holdCatalogue } from '../../src/hire/hold-catalogue.ts';
import { findHrisAdapter, hrisKinds } from '../../src/hris/registry.ts';
import { writeRule } from '../../src/mapping/compile-rule.ts';
import { loadMapping } from '../../src/mapping/load-mapping.ts';
import { partnerTargets, type SourceRecord, sourceRecords } from '../../src/mapping/source-fields.ts';
import { createReceiverMetrics } from '../../src/receiver/receiver.ts';
import { openTables } from '../../src/store/open-store.ts';
import type { InboxState } from '../../src/store/schema.ts';
import type { StreamState } from '../../src/store/stream-tables.ts';
import type { TenantState } from '../../src/store/tenant-states.ts';
import { landedNames, landings, pullStreams } from '../../src/streams/streams.ts';
import { type Dispatch, dispatch } from '../../src/worker/dispatch.ts';
import { createMetrics } from '../../src/worker/metrics.ts';
import { settingsReference } from './settings.ts';

/** The reference of commands, file keys, holds, states, source paths, fields and metrics, as Markdown. */
export async function referencePage(): Promise<string> {
  const all = await Promise.all(
    Object.values(GROUPS)
      .flatMap(Object.entries<Listed>)
      .map(defined),
  );
  const commands = ['## Commands', ...all.flatMap((command) => commandLines(command, 'hirebridge'))];
  const head = ['# Reference', '', 'Written by `node test/docs/reference.ts`; a test keeps it equal.', ''];
  const lines = [...eventLines(dispatch), '', ...(await catalogues()).map(wrapped), '', ...commands.map(wrap)];
  return `${[...head, settingsReference(), '', ...lines].join('\n')}\n`;
}

async function defined([name, [, module]]: [string, Listed]): Promise<Command> {
  const command = new Command(name);
  (await module()).commands[name]?.(command, async () => undefined);
  return command;
}

/** Rows of tables are not wrapped. */
function wrapped(line: string): string {
  return line.startsWith('|') ? line : wrap(line);
}

/** A table of the partner's events and what each leads to. */
function eventLines(dispatch: Readonly<Record<string, Dispatch>>): string[] {
  const rows = Object.entries(dispatch).map(([event, { hires, edited, streams = {}, nothing }]) => {
    const ofHires = hires === undefined && edited === undefined ? [] : ['hires'];
    const parts = [...ofHires, ...Object.keys(streams).map((name) => `\`${name}\``)];
    return `| \`${event}\` | ${parts.length === 0 ? `nothing: ${nothing ?? ''}` : parts.join(', ')} |`;
  });
  const about =
    'A webhook is a hint: hirebridge reads the record that it names. Streams follow only if the tenant file runs them.';
  return ['## Events', '', about, '', '| event | hints at |', '|---|---|', ...rows];
}

function commandLines(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const inner = command.commands.flatMap((one) => commandLines(one, name));
  // A group of commands has no options of its own.
  if (inner.length > 0 && command.options.length === 0) return inner;
  const usage = [name, ...command.registeredArguments.map(argumentText)].join(' ');
  const options = command.options.map(
    ({ flags, description, argChoices }) =>
      `- \`${flags}\`: ${description}${argChoices === undefined ? '' : ` (${argChoices.join(', ')})`}`,
  );
  const args = command.registeredArguments.map((one) => `- \`${argumentText(one)}\`: ${one.description}`);
  return ['', `### \`${usage}\``, '', command.description(), ...listOf([...args, ...options]), ...inner];
}

function listOf(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function argumentText(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** All named things of this version apart from settings and commands, as lines of Markdown. */
async function catalogues(): Promise<string[]> {
  return [
    ...holds(),
    '',
    ...allAnswers(),
    '',
    ...states(),
    '',
    ...sourcePaths(),
    '',
    ...(await employeeFields()),
    '',
    ...landedFields(),
    '',
    ...(await metrics()),
  ];
}

function holds(): string[] {
  const lines = Object.entries<HoldEntry>(holdCatalogue).map(([code, { scope, answers: accepted, what, asks }]) => {
    const text = `${what(anything as never)} ${asks}`
      .replace(/\w$/, '$&.')
      .replaceAll(/<[\w.]+>/g, (one) => `\`${one}\``);
    const words = accepted.map((one) => `\`${one}\``).join(', ');
    return `- \`${code}\`${scope === 'tenant' ? ' (of the whole tenant)' : ''}: ${text} Answers: ${words}.`;
  });
  return [
    '## Holds',
    '',
    'Questions that hirebridge asks a person. `hirebridge hold show HOLD` says what it is about; `hirebridge hold',
    'answer` takes one of the answers. A refusal of the hiring platform or of the HR system is a hold, too, under the',
    'code of the refusal, with the answers `retry` and `cancel` or `keep`.',
    '',
    ...lines,
  ];
}

/** Stands for any facts that a message is built from; each fact prints its own name. */
const anything = new Proxy({}, { get: (_, key) => placeholder(String(key)) });

/** Stands for a text, a list or a hire. */
function placeholder(name: string): unknown {
  return new Proxy([`<${name}>`], {
    get: (list, key) => (typeof key === 'symbol' || key in list ? Reflect.get(list, key) : placeholder(key)),
  });
}

function allAnswers(): string[] {
  const words = Object.keys(answers) as Answer[];
  return [
    '## Answers',
    '',
    ...words.map((word) => {
      const { does, doesForTenant, takes }: (typeof answers)[Answer] & { doesForTenant?: string; takes?: string } =
        answers[word];
      const tenant = doesForTenant === undefined ? '' : ` For a hold of the whole tenant: ${doesForTenant}`;
      return `- \`${word}${takes === undefined ? '' : ` <${takes}>`}\`: ${does}${tenant}`;
    }),
  ];
}

const HIRE_STATES: Readonly<Record<HireState, string>> = {
  'before-go-live': 'hired before the tenant went live, or passed over; only `hire start --adopt` begins it',
  open: 'a workflow follows it; its step says what it does',
  done: 'the Employee ID was written back and read again as written',
  left: 'over, and the person has left the hiring stage; if they come back, a new hire starts',
  cancelled: 'ended by the answer `cancel`; nothing starts again while the person stays in the stage',
  kept: 'ended by the answer `keep`; everything stays as it is',
};

const HIRE_STEPS: Readonly<Record<HireStep, string>> = {
  enrol: 'reads both sides, and enrols the person in the onboarding flow, unless the tenant skips it',
  're-enrol': 'enrols the person again, after the answer `re-enrol`',
  'await-credits': 'waits until the hiring platform has onboarding credits again',
  onboard: 'waits for a status of `policies.onboarding.readyAt`, a refusal, or the deadline',
  employ: 'searches the HR system, saves a plan, and makes, links or changes the one employee',
  'write-back': 'sends the Employee ID and status to the hiring platform, and reads them again',
  'confirm-left': 'the person seems to have left the stage: waits for `policies.cancel.grace`, and reads again',
  cancel: 'ends the enrolment of a cancelled hire',
  'watch-done': 'done; it hears when the person leaves the stage after all',
  'end-employment': 'ends the employment of somebody who never came, because a person answered `no-show`',
  'hand-over': 'leaves the employee to the next hire of this person, because a person answered `moved`',
  ended: 'over',
};

const TENANT_STATES: Readonly<Record<TenantState['state'], string>> = {
  active: 'its hires and streams run',
  paused: 'nothing is read or written for it; webhooks are stored. Its code says whether a person or a check did that',
  removed: 'removed by `tenant remove`; its data stays until its retention ends',
};

const RUN_STATES: Readonly<Record<StreamState, string>> = {
  running: 'under way, or waiting for a worker that continues it',
  done: 'came to its end, and nothing was left out',
  partial: 'came to its end; `hirebridge failed` lists what was left out, with the reason',
  refused: 'ended before its end; its code says why',
};

const INBOX_STATES: Readonly<Record<InboxState, string>> = {
  waiting: 'stored, and not processed yet',
  relayed: 'the record that it names was read again',
  ignored: 'an event without effect',
  undeliverable: 'processing it failed too often: `hirebridge inbox retry`',
  'other-company': 'it names another company than the tenant file',
  unknown: 'an event that this version does not know',
};

function states(): string[] {
  return [
    '## States',
    '',
    ...statesOf('Of a hire', HIRE_STATES),
    '',
    ...statesOf('Steps of an open hire', HIRE_STEPS),
    '',
    ...statesOf('Of a tenant', TENANT_STATES),
    '',
    ...statesOf("Of a stream's run; beside it, a stream is paused by a person or held by a change limit", RUN_STATES),
    '',
    ...statesOf('Of a delivery (`hirebridge inbox list --state`)', INBOX_STATES),
    '',
    'Of a field that flows both ways: [two-way.md](two-way.md#states-of-a-field).',
  ];
}

function statesOf(title: string, meanings: Readonly<Record<string, string>>): string[] {
  return [`${title}:`, '', ...Object.entries(meanings).map(([state, meaning]) => `- \`${state}\`: ${meaning}.`)];
}

/** The paths that `from` may name, and those that a rule towards the partner may write. */
function sourcePaths(): string[] {
  const read = Object.entries<SourceRecord>(sourceRecords).map(([name, record]) => `- \`${name}\`: ${pathsOf(record)}`);
  const own = landedNames
    .filter((name) => name !== 'candidates' && name !== 'jobs')
    .map((name) => `- \`${pullStreams[name].record.name}\` in ${name}.yaml: ${pathsOf(pullStreams[name].record)}`);
  const written = Object.entries<SourceRecord>(partnerTargets).map(
    ([name, record]) => `- \`${name}\`: ${pathsOf(record)}`,
  );
  return [
    '## Source paths',
    '',
    'Paths for `from` in a mapping of employees, such as `candidate.firstName`, `job.customFields[Department]` or',
    '`onboarding.metadata.site`. A custom field is named by its label or its id; `hirebridge discover TENANT` lists',
    'them.',
    '',
    ...read,
    '',
    'A mapping of a stream reads its one record, with the same fields; if it lands, also the whole record',
    '(`candidate.*`):',
    '',
    ...own,
    '',
    'A rule with `direction: toPartner` or `both` may change:',
    '',
    ...written,
  ];
}

function pathsOf({ fields, hasCustomFields, hasAnswers, lists = [] }: SourceRecord): string {
  return [
    ...fields.map((field) => `\`${field}\``),
    ...(hasCustomFields === true ? ['`customFields[LABEL]`'] : []),
    ...(hasAnswers === true ? ['`answers[QUESTION]`'] : []),
    ...lists.map((list) => `\`${list}[first|last|current].customFields[LABEL]\``),
  ].join(', ');
}

/** The smallest valid tenant section of each kind; the fields do not depend on it. */
const LEAST: Readonly<Record<string, Record<string, unknown>>> = {
  bamboohr: { url: 'https://acme.bamboohr.com', apiKey: 'key', referenceField: 'none' },
  entra: {
    url: 'https://graph.microsoft.com/v1.0',
    directory: 'd',
    clientId: 'c',
    clientSecret: 'secret',
    servicePrincipal: 's',
    job: 'j',
  },
  ldap: { url: 'ldaps://ldap.example', bindDn: 'cn=hirebridge', password: 'secret', base: 'dc=acme' },
  odoo: { url: 'https://odoo.example', database: 'acme', user: 'hirebridge', password: 'secret' },
  scim: { url: 'https://hr.example/scim/v2', token: 'secret' },
  sftp: { host: 'sftp.example', user: 'hirebridge', hostKey: `SHA256:${'A'.repeat(43)}`, privateKey: 'key' },
  sql: { url: 'sqlite:hr.db' },
  tryton: { url: 'https://tryton.example', database: 'acme', user: 'hirebridge', password: 'secret', company: 1 },
};

/** Kinds whose fields are defined in a customer's file. */
const OF_A_FILE = ['http', 'module'];

async function employeeFields(): Promise<string[]> {
  const kinds = hrisKinds().filter((kind) => !OF_A_FILE.includes(kind));
  const tables = await Promise.all(kinds.map(fieldsOf));
  return [
    '## Fields of HR systems',
    '',
    'Fields that a mapping of employees may write, by kind, with their default sources. `hris.fields` of a tenant file',
    'adds fields, or places them elsewhere. A file defines the fields of `http` and `module`.',
    ...tables.flat(),
  ];
}

async function fieldsOf(kind: string): Promise<string[]> {
  const options = LEAST[kind] ?? {};
  const adapter = findHrisAdapter(kind, options);
  if (adapter === undefined) throw new Error(`${kind} is a kind without an adapter`);
  const fields = adapter.employeeFields(adapter.optionsSchema(landings).parse(options));
  const mapping = await loadMapping({ kind, fields });
  const rules = new Map(mapping.fields.map(({ target, rule, required }) => [target, { rule, required }]));
  const rows = fields.map(({ key, label, type, required, place }) => {
    const rule = rules.get(key);
    const cells = [
      `\`${key}\``,
      label,
      place === undefined || place === key ? '' : code(place),
      type,
      required || rule?.required === true ? 'yes' : '',
      rule === undefined ? '' : code(writeRule(rule.rule)),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const head = ['| field | label | place | type | required | filled from |', '|---|---|---|---|---|---|'];
  return ['', `### Employees, kind ${kind}`, '', ...head, ...rows];
}

/** Text that contains backticks is quoted with two of them. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function landedFields(): string[] {
  const lines = Object.entries(landings).map(([stream, fields]) => {
    const names = Object.entries(fields).map(
      ([key, { type, required }]) => `\`${key}\` (${type}${required === true ? ', required' : ''})`,
    );
    return `- \`${stream}\`: ${names.join(', ')}`;
  });
  return [
    '### Landing tables',
    '',
    'Fields of each stream that lands, before `hris.landing` adds its own:',
    '',
    ...lines,
  ];
}

const ABOUT_METRICS = [
  '## Metrics',
  '',
  'At `/metrics` of `worker` and `serve`, and by OTLP ([traces.md](traces.md)); beside them the figures of the process',
  '(`hirebridge_process_*`, `hirebridge_nodejs_*`). A label marked with \\* is there only with',
  '`HIREBRIDGE_METRICS_BY_TENANT`.',
  '',
];

async function metrics(): Promise<string[]> {
  const rows = await Promise.all(
    (['worker', 'serve'] as const).map(async (part) => {
      const [all, few] = [await listMetrics(part, true), await listMetrics(part, false)];
      return all.map(({ name, help, type, labelNames }) => {
        const dropped = few.find((one) => one.name === name)?.labelNames.length !== labelNames.length;
        const labels = labelNames
          .map((label) => `\`${label}\`${dropped && label === 'tenant' ? '\\*' : ''}`)
          .join(', ');
        return `| \`${name}\` | ${type} | ${part} | ${labels} | ${help.replace(/\.$/, '')} |`;
      });
    }),
  );
  return [...ABOUT_METRICS, '| metric | type | of | labels | what |', '|---|---|---|---|---|', ...rows.flat()];
}

interface Metric {
  name: string;
  help: string;
  type: string;
  labelNames: readonly string[];
}

async function listMetrics(part: 'worker' | 'serve', byTenant: boolean): Promise<Metric[]> {
  const registry = new Registry();
  if (part === 'serve') createReceiverMetrics(registry);
  else {
    // Nothing is read from this store: its metrics are only listed.
    const tables = openTables('sqlite::memory:');
    createMetrics({ ...tables, installationId: '' }, registry, { byTenant });
    await tables.close();
  }
  return registry.getMetricsAsArray() as unknown as Metric[];
}

if (import.meta.main) process.stdout.write(await referencePage());
