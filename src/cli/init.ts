import { readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { type OwnTable, readOwnTables } from '../hris/sql/describe.ts';
import { count, nearest } from '../in-words.ts';
import { checkTenant } from '../operator/check-tenant.ts';
import {
  assertNewTenant,
  defineDateField,
  type NewFile,
  type NewTenant,
  type PartnerAccess,
  partnerAccess,
  type SeenPartner,
  sameLabel,
  seePartner,
  seeSources,
  tenantTexts,
  writeNewFiles,
} from '../operator/new-tenant.ts';
import {
  chosenLine,
  constantLine,
  emptyLine,
  isFilled,
  type Line,
  likeness,
  newTenantTable,
  type Rehearsal,
  rehearseLastHire,
  type Source,
  type Suggestion,
  suggestMapping,
  withOwnNames,
} from '../operator/suggest-mapping.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import { partnerSection } from '../tenants/schema.ts';
import { holdsPassword, isSecretRef, resolveText } from '../tenants/secrets.ts';
import { readYamlFile } from '../yaml/yaml-file.ts';
import { EXIT, example, pairs, placesOf, print, renderTable } from './command.ts';
import { renderCheck } from './discover.ts';
import { ask, askSecret, canAsk, choose, search, tell, tellWrong } from './prompt.ts';

interface Flags {
  partner?: string;
  apiKey?: string;
  webhookKey?: string;
  hris?: string;
  definition?: string;
  option?: Record<string, string>;
  table?: string;
  createTable?: boolean;
  flow?: string;
  startDate?: string;
  define?: boolean;
  yes?: boolean;
}

export const commands = { init: defineInit };

function defineInit(command: Command): void {
  command
    .description(
      'Write the files of a new tenant. On a terminal it asks for what is not given: it offers the tables of the HR ' +
        'database, suggests a mapping, and ends with a check and a preview of the last real hire as an employee. It ' +
        'overwrites nothing, and Ctrl-C leaves nothing behind.',
    )
    .argument('<tenant>', 'id of the new tenant: a to z, 0 to 9 and -')
    .option('--partner <url>', 'address of the hiring platform, https://.../v1/partner')
    .option('--api-key <key>', 'where its key is, env:NAME or file:PATH; the key itself only for a sandbox')
    .option(
      '--webhook-key <key>',
      'key of its webhooks, as its dashboard shows it, or env:NAME or file:PATH; without one the reconcile finds hires',
    )
    .option(
      '--hris <url>',
      'database of the HR system: sqlite:PATH, postgres://..., mariadb://..., env:NAME or file:PATH; with ' +
        '--definition the address of the HR system',
    )
    .option('--definition <file>', 'file that describes an HR system over HTTP')
    .option('--option <name=value>', 'an option of the definition; a secret as env:NAME or file:PATH', pairs)
    .option('--table <name>', 'existing table of employees; a mapping of its columns is suggested')
    .option('--create-table', 'let hirebridge create the tables of the HR system; for demonstrations')
    .option('--flow <id>', 'onboarding flow; by default the only active one')
    .option(
      '--start-date <label>',
      "candidate's custom field of the first day of work; by default the one that is called Start date",
    )
    .option('--define', 'define that custom field if the hiring platform has none')
    .option('--yes', 'take the suggested mapping without asking')
    .addHelpText('after', example('hirebridge init acme', `hirebridge init acme ${SANDBOX_FLAGS}`))
    .action(runInit);
}

const SANDBOX_FLAGS =
  '--partner http://127.0.0.1:8800/v1/partner --api-key env:ACME_KEY --hris sqlite:acme-hr.db --create-table';

async function runInit(tenant: string, flags: Flags, command: Command): Promise<void> {
  const { tenantsDir } = await placesOf(command);
  assertNewTenant(tenantsDir, tenant);
  assertNoSecrets(flags);
  assertAnswered(flags);
  const defined = await settleDefinition(flags);
  const { access, seen, apiKey } = await settlePartner(flags);
  const webhookKey = await settleWebhookKey(flags);
  const hris =
    defined === undefined ? await settleDatabase(flags) : { url: await settleAddress(flags), createTable: false };
  const flow = await settleFlow(seen, flags.flow);
  const start = await settleStartDate(seen, flags);
  const own = hris.table === undefined ? undefined : await settleMapping(hris.table, { access, seen, start, flags });
  const files = await tenantTexts(tenantsDir, {
    tenant,
    apiKey,
    webhookKey,
    flow: flow.value,
    startDate: start.value,
    createTable: hris.createTable,
    baseUrl: access.baseUrl,
    environment: access.environment,
    allowPrivate: access.allowPrivate,
    hris: fromFolder(hris.url, tenantsDir),
    defined,
    company: seen.company,
    ...(own === undefined ? {} : await newTenantTable(own.table, own)),
  });
  // Nothing was changed until here, so that Ctrl-C leaves no trace.
  if (start.isNew) await defineDateField(access, start.value);
  await writeNewFiles(files);
  print(
    [
      ...files.map(({ path }: NewFile) => `wrote ${relative(process.cwd(), path)}\n`),
      `onboarding flow ${flow.value}: ${flow.why}\n`,
      `start date candidate.customFields[${start.value}]: ${start.why}\n`,
      ...(webhookKey === undefined
        ? []
        : [
            `webhooks: in the dashboard, set the webhook URL to https://YOUR_HOST/webhooks/${tenant}; ` +
              `on this machine that is http://127.0.0.1:${readConfig().HIREBRIDGE_PORT}/webhooks/${tenant}\n`,
          ]),
    ].join(''),
  );
  const works = own === undefined && defined === undefined && !canAsk() ? true : await tryOut(tenant, tenantsDir);
  const next = works
    ? 'Next: hirebridge up, or if it runs already: hirebridge tenant apply'
    : `Correct what fails, then ask again: hirebridge check ${tenant}`;
  print(`${next}\n`);
  if (!works) process.exitCode = EXIT.refused;
}

/** If nobody can answer questions, names every missing flag at once. */
function assertAnswered({ partner, apiKey, hris, table, yes }: Flags): void {
  if (canAsk()) return;
  const missing = Object.entries({ '--partner': partner, '--api-key': apiKey, '--hris': hris })
    .filter(([, value]) => value === undefined)
    .map(([flag]) => flag);
  if (table !== undefined && yes !== true) missing.push('--yes (to take the suggested mapping)');
  if (missing.length === 0) return;
  throw rejected('FLAG_MISSING', `There is no terminal to ask on. Give ${missing.join(', ')} as well.`);
}

interface SettledPartner {
  access: PartnerAccess;
  seen: SeenPartner;
  /** As given: the key itself, or a reference to it. */
  apiKey: string;
}

/** Tries address and key together, and asks again for the wrong one. */
async function settlePartner(flags: Flags): Promise<SettledPartner> {
  const isUrl = (text: string): string | undefined => {
    const why = partnerSection.shape.baseUrl.safeParse(text).error?.issues[0]?.message;
    return why && `${why.replace('expected', 'Expected')}.`;
  };
  let { partner, apiKey } = flags;
  let before: string | undefined;
  for (;;) {
    const baseUrl = partner ?? (await ask('Address of the hiring platform', isUrl, before));
    const key = fromHere(apiKey ?? (await askSecret('Its API key (not shown), or where it is: env:NAME, file:PATH')));
    try {
      const access = partnerAccess({ baseUrl, apiKey: key });
      return { access, seen: await seePartner(access), apiKey: key };
    } catch (error) {
      if (!canAsk() || !isConnectorError(error)) throw error;
      await tellWrong(error.message);
      const isKey = error.action === 'reauthorize' || error.code === 'SECRET_MISSING';
      before = baseUrl;
      [partner, apiKey] = isKey ? [baseUrl, undefined] : [undefined, key];
    }
  }
}

interface SettledDatabase {
  /** As given: the address itself, or a reference to it. */
  url: string;
  /** The customer's own employee table; undefined if ours is used. */
  table?: OwnTable;
  createTable: boolean;
}

/** An empty answer means none: without webhooks the reconcile finds every hire, only later. */
async function settleWebhookKey({ webhookKey }: Flags): Promise<string | undefined> {
  if (webhookKey !== undefined || !canAsk()) return webhookKey === undefined ? undefined : fromHere(webhookKey);
  const key = await askSecret('Key of its webhooks (not shown), or where it is; Enter for none yet', {
    orNothing: true,
  });
  return key === '' ? undefined : fromHere(key);
}

/** A file that describes the HR system, with its options as they were given. */
async function settleDefinition({ definition, option, ...flags }: Flags): Promise<NewTenant['defined']> {
  const isTable = flags.table !== undefined || flags.createTable === true;
  if (definition === undefined ? option !== undefined : isTable)
    throw rejected(
      'FLAG_INVALID',
      '--option belongs to --definition; --table and --create-table belong to a database, without it.',
    );
  if (definition === undefined) return undefined;
  const file = resolve(definition);
  const options = Object.entries(option ?? {}).map(([key, value]) => [key, fromHere(value)]);
  const { text, doc } = await readYamlFile(file);
  return {
    file,
    text,
    hasStartDate: doc.hasIn(['fields', 'startDate']),
    options: Object.fromEntries(options) as Record<string, string>,
  };
}

async function settleAddress({ hris }: Flags): Promise<string> {
  const isUrl = (text: string): string | undefined =>
    /^(https?:\/\/|env:|file:)./.test(text) ? undefined : 'Expected an address, https://hr.example/api.';
  return fromHere(hris ?? (await ask('Address of the HR system', isUrl)));
}

/** The database and, on a terminal, the table that a person picks in it. */
async function settleDatabase({ hris, table, createTable = false }: Flags): Promise<SettledDatabase> {
  if (createTable || (table === undefined && !canAsk())) return { url: fromHere(hris ?? ''), createTable };
  let url = hris;
  let before: string | undefined = databasesHere()[0];
  for (;;) {
    const typed = url ?? (await ask('Database of the HR system', wrongDatabase, before));
    const given = fromHere(typed);
    try {
      const tables = await readOwnTables(resolveText(given), table);
      const picked = table === undefined ? await pickTable(tables) : tables[0];
      return { url: given, createTable: picked === undefined, ...(picked === undefined ? {} : { table: picked }) };
    } catch (error) {
      if (!canAsk() || table !== undefined || !isConnectorError(error) || error.code === 'INTERRUPTED') throw error;
      await tellWrong(error.message);
      [url, before] = [undefined, typed];
    }
  }
}

function wrongDatabase(text: string): string | undefined {
  if (/^(sqlite|postgres(ql)?|mariadb|env|file):./.test(text)) return undefined;
  const here = databasesHere();
  const found = here.length === 0 ? '' : ` Here are: ${here.join(', ')}.`;
  return `Expected sqlite:PATH, postgres://USER@HOST/NAME, mariadb://USER@HOST/NAME, env:NAME or file:PATH.${found}`;
}

function databasesHere(): string[] {
  const files = readdirSync('.').filter((name) => /\.(db|sqlite3?)$/.test(name));
  return files.toSorted().map((name) => `sqlite:${name}`);
}

async function pickTable(tables: readonly OwnTable[]): Promise<OwnTable | undefined> {
  const sorted = tables.toSorted((a, b) => likeness(b) - likeness(a));
  const options = sorted.map((one) => ({
    value: one.name,
    label: one.name,
    hint: `${count(one.columns.length, 'column')}, ${likeness(one)} that employees have`,
  }));
  const none = { value: '', label: 'none of them', hint: 'hirebridge makes a table of its own, for a demonstration' };
  const picked = await choose('Table of employees', [...options, none]);
  return sorted.find(({ name }) => name === picked);
}

/** A relative path on the command line starts at the current directory. */
function fromHere(value: string): string {
  return value.replace(/^(file|sqlite):(.+)$/s, (_all, kind: string, path: string) => `${kind}:${resolve(path)}`);
}

/** Makes the path of a database relative, so that it moves with the tenant files. */
function fromFolder(url: string, folder: string): string {
  return url.replace(/^sqlite:(.+)$/s, (_all, path: string) => `sqlite:${relative(folder, path)}`);
}

interface Settled {
  value: string;
  why: string;
}

/** The flow that was named, the only one, or the one that a person picks. */
async function settleFlow({ flows }: SeenPartner, wanted: string | undefined): Promise<Settled> {
  const [only] = flows;
  if (wanted !== undefined) return { value: wanted, why: 'as given' };
  if (only !== undefined && flows.length === 1)
    return { value: only.id, why: `"${only.name}", the only one that is active` };
  if (only !== undefined && canAsk()) {
    const options = flows.map(({ id, name }) => ({ value: id, label: name, hint: id }));
    return { value: await choose('Onboarding flow', options), why: 'as you chose' };
  }
  const listed = flows.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw unsettled(
    only === undefined
      ? 'The hiring platform has no active onboarding flow. Activate one in its dashboard, then run init again.'
      : `The hiring platform has ${flows.length} active onboarding flows: ${listed}. Name one with --flow.`,
  );
}

const START_DATE = 'Start date';

/** The custom field for the start date, and whether it must still be created. */
interface StartDate extends Settled {
  isNew: boolean;
}

/**
 * The hiring platform has no start date field, so a custom field of the candidate holds it. A field with another name
 * could be any date, so it is never used without asking: an employee would start on the wrong day.
 */
async function settleStartDate(
  { dateFields }: SeenPartner,
  { startDate, define }: Pick<Flags, 'startDate' | 'define'>,
): Promise<StartDate> {
  const label = startDate ?? START_DATE;
  const known = sameLabel(dateFields, label);
  if (known !== undefined)
    return { value: known, why: startDate === undefined ? 'by its name' : 'as given', isNew: false };
  if (define === true) return { value: label, why: 'defined there just now', isNew: true };
  if (startDate === undefined && canAsk()) {
    const own = dateFields.map((one) => ({ value: one, label: one }));
    const another = { value: '', label: `define "${label}" there`, hint: 'once the files are written' };
    const chosen = await choose('Custom field that holds the first day of work', [...own, another]);
    if (chosen === '') return { value: label, why: 'defined there just now', isNew: true };
    return { value: chosen, why: 'as you chose', isNew: false };
  }
  const near = nearest(label, dateFields);
  const there = dateFields.length === 0 ? 'no candidate custom field of type date' : dateFields.join(', ');
  throw unsettled(
    `The hiring platform has no candidate custom field "${label}" of type date for the start date; it has ${there}. ` +
      `${near === undefined ? '' : `Did you mean "${near}"? `}Name one with --start-date, or define it with --define.`,
  );
}

function unsettled(message: string): ConnectorError {
  return rejected('INIT_UNCLEAR', message);
}

interface MappingParts {
  access: PartnerAccess;
  seen: SeenPartner;
  start: StartDate;
  flags: Flags;
}

/** Shows a line for each column with the value for the last hire, and lets a person change them until they accept. */
async function settleMapping(
  table: OwnTable,
  { access, seen, start, flags }: MappingParts,
): Promise<Suggestion & { table: string }> {
  const startPath = `candidate.customFields[${start.value}]`;
  const known = await seeSources(access, seen);
  const sources = known.some(({ path }) => path === startPath)
    ? known
    : [...known, { path: startPath, meaning: 'startDate', type: 'date' as const, options: [], samples: [] }];
  const { roles, lines } = suggestMapping(table, sources, startPath);
  if (flags.yes === true) {
    const lacking = lackingIn(lines);
    if (lacking.length > 0)
      throw unsettled(
        `The table ${table.name} requires ${lacking.join(', ')}, and nothing at the hiring platform fits. Run init ` +
          'on a terminal to say what fills it, or give the column a default.',
      );
    print(`${renderLines(lines, canAsk())}\n`);
    return { table: table.name, roles, lines };
  }
  let taken = lines;
  for (;;) {
    await tell(`${renderLines(taken, true)}\n${rolesText(roles)}`);
    const filled = taken.filter(isFilled).length;
    const lacking = lackingIn(taken);
    const take = { value: 'take', label: 'take it', hint: `${filled} of ${taken.length} columns are filled` };
    const change = { value: 'change', label: 'change one line', hint: '' };
    const next =
      lacking.length === 0
        ? await choose('This mapping', [take, change])
        : await choose(`The table requires ${lacking.join(', ')}, and nothing fills it yet`, [change, take]);
    if (next === 'take') return { table: table.name, roles, lines: taken };
    taken = withOwnNames(await changeLine(taken, sources));
  }
}

function lackingIn(lines: readonly Line[]): string[] {
  return lines.filter((line) => line.column.required && !isFilled(line)).map(({ column }) => column.name);
}

async function changeLine(lines: readonly Line[], sources: readonly Source[]): Promise<Line[]> {
  const byName = lines.map(({ column, from }) => ({ value: column.name, label: column.name, hint: from ?? '' }));
  const name = await search('Which column', byName);
  const options = sources.map(({ path, samples }) => ({ value: path, label: path, hint: short(samples[0] ?? '') }));
  const from = await search(`What fills ${name}`, [
    { value: 'none', label: 'nothing', hint: 'it stays as the HR system fills it' },
    { value: 'constant', label: 'the same for everybody' },
    ...options,
  ]);
  const constant =
    from === 'constant' ? await ask('Which value', (text) => (text ? undefined : 'Expected a value.')) : '';
  return lines.map((line) => {
    if (line.column.name !== name) return line;
    if (constant !== '') return constantLine(line.column, constant);
    const source = sources.find(({ path }) => path === from);
    return source === undefined ? emptyLine(line.column) : chosenLine(line.column, source);
  });
}

function renderLines(lines: readonly Line[], withSamples: boolean): string {
  const rows = lines.map(({ column, from, constant, sample, why }) => [
    column.name,
    from ?? (constant === undefined ? '-' : `"${constant}"`),
    ...(withSamples ? [short(sample ?? '')] : []),
    why,
  ]);
  return renderTable(['column', 'from', ...(withSamples ? ['last hire'] : []), 'why'], rows);
}

function rolesText({ idColumn, numberColumn, referenceColumn, endColumn }: Suggestion['roles']): string {
  const reference =
    referenceColumn === 'none'
      ? 'no column keeps our reference, so a lost answer is resolved by e-mail'
      : `our reference in ${referenceColumn}`;
  const end = endColumn === undefined ? '' : `, last day in ${endColumn}`;
  return `Employee ID in ${idColumn}, employee number in ${numberColumn}${end}; ${reference}.`;
}

const MOST_SHOWN = 24;

function short(value: unknown): string {
  const text = String(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 3)}...`;
}

/** Asks both sides whether the new files can work, and shows what the last real hire would become. Writes nothing. */
async function tryOut(tenantId: string, tenantsDir: string): Promise<boolean> {
  const [tenant] = (await loadTenants(tenantsDir, { secrets: 'skip' })).filter((one) => one.tenant === tenantId);
  if (tenant === undefined) throw new Error(`tenant ${tenantId} disappeared after it was written`);
  const found = await checkTenant(tenant, undefined);
  // Nothing runs yet, so leave out checks of processes and state.
  const lines = found.filter(({ check }) => check !== 'processes' && check !== 'state');
  print(`\n${lines.map(renderCheck).join('')}`);
  if (lines.some(({ state }) => state === 'fail')) return false;
  print(renderRehearsal(await rehearseLastHire(tenant)));
  return true;
}

function renderRehearsal(rehearsal: Rehearsal | undefined): string {
  if (rehearsal === undefined) return '\nNobody applied there yet, so no hire could be tried.\n';
  const { jobCandidateId, isThere, fields } = rehearsal;
  const rows = fields.map(({ place, from, value, problem }) => [
    place,
    from,
    problem ?? (value === undefined ? '-' : canAsk() ? short(value) : 'has a value'),
  ]);
  const there = isThere === true ? ' Somebody with this e-mail is in the HR system already.' : '';
  const problems = fields.filter(({ problem }) => problem !== undefined).length;
  const verdict =
    problems === 0 ? 'can be made' : `cannot be made yet: ${problems} of ${count(fields.length, 'field')}`;
  return (
    `\nThe last hire, job candidate ${jobCandidateId}, as an employee (nothing is written):\n` +
    `${renderTable(['column', 'from', 'gives'], rows)}\nThis employee ${verdict}.${there}\n\n`
  );
}

/** Everybody on the machine can see arguments, and the shell saves them. */
function assertNoSecrets({ apiKey, hris }: Flags): void {
  const isKey = apiKey !== undefined && !isSecretRef(apiKey) && !apiKey.startsWith('sk_test_');
  const flag = isKey ? '--api-key' : holdsPassword(hris ?? '') ? '--hris' : undefined;
  if (flag === undefined) return;
  throw rejected(
    'SECRET_IN_ARGUMENT',
    `${flag} holds a secret, and everybody on this machine can read arguments. Leave it out to be asked for it, or ` +
      'give env:NAME or file:PATH.',
  );
}
