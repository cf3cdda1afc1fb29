import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import {
  assertAbsent,
  defineDateField,
  type NewFile,
  partnerAccess,
  type SeenPartner,
  sameLabel,
  seePartner,
  tenantTexts,
  writeNewFiles,
} from '../operator/new-tenant.ts';
import { example, placesOf } from './options.ts';
import { ask, askSecret, canAsk, choose } from './prompt.ts';

interface Flags {
  partner?: string;
  apiKey?: string;
  hris?: string;
  createTable?: boolean;
  flow?: string;
  startDate?: string;
  define?: boolean;
}

export function defineInit(command: Command): void {
  command
    .description(
      'Write the files of a new tenant. On a terminal it asks for what is not given; it looks the rest up at the ' +
        'hiring platform, checks what it writes, and overwrites nothing.',
    )
    .argument('<tenant>', 'id of the new tenant: a to z, 0 to 9 and -')
    .option('--partner <url>', 'address of the hiring platform, https://.../v1/partner')
    .option('--api-key <key>', 'its key, put into a file of its own; or where it is: env:NAME or file:PATH')
    .option(
      '--hris <url>',
      'database of the HR system: sqlite:PATH, postgres://..., mariadb://..., env:NAME or file:PATH',
    )
    .option('--create-table', 'let hirebridge create the tables of the HR system; for demonstrations')
    .option('--flow <id>', 'onboarding flow; by default the only active one')
    .option(
      '--start-date <label>',
      "candidate's custom field of the first day of work; by default the one that is called Start date",
    )
    .option('--define', 'define that custom field where the hiring platform has none')
    .addHelpText('after', example('hirebridge init acme', `hirebridge init acme ${SANDBOX_FLAGS}`))
    .action(runInit);
}

const SANDBOX_FLAGS =
  '--partner http://127.0.0.1:8800/v1/partner --api-key env:ACME_KEY --hris sqlite:acme-hr.db --create-table';

async function runInit(tenant: string, flags: Flags, command: Command): Promise<void> {
  const { tenantsDir } = await placesOf(command);
  assertAbsent([join(tenantsDir, `${tenant}.yaml`)]);
  const given = await complete(flags);
  const wanted = { tenant, tenantsDir, ...given, createTable: flags.createTable === true };
  const { files, notes } = await settle(wanted, flags);
  await writeNewFiles(files);
  const shown = files.map(({ path }) => `wrote ${relative(process.cwd(), path)}\n`).join('');
  const chosen = notes.map((note) => `${note}\n`).join('');
  process.stdout.write(`${shown}${chosen}Next: hirebridge up, or where it runs already: hirebridge tenant apply\n`);
}

type Wanted = Given & { tenant: string; tenantsDir: string; createTable: boolean };

/** Looks up what the partner knows, and asks for what it leaves open. What is wrong by itself is refused before. */
async function settle({ tenantsDir, ...wanted }: Wanted, flags: Flags): Promise<{ files: NewFile[]; notes: string[] }> {
  const access = partnerAccess(wanted);
  const { baseUrl, environment, allowPrivate } = access;
  const hris = fromFolder(wanted.hris, tenantsDir);
  const known = { ...wanted, baseUrl, environment, allowPrivate, hris };
  await tenantTexts(tenantsDir, { ...known, flow: 'not known yet', startDate: 'not known yet' });
  const { company, ...seen } = await seePartner(access);
  const flow = await settleFlow(seen, flags.flow);
  const start = await settleStartDate(seen, flags);
  const told = company === undefined ? known : { ...known, company };
  const files = await tenantTexts(tenantsDir, { ...told, flow: flow.value, startDate: start.value });
  if (start.isNew) await defineDateField(access, start.value);
  return {
    files,
    notes: [
      `onboarding flow ${flow.value}: ${flow.why}`,
      `start date candidate.customFields[${start.value}]: ${start.why}`,
    ],
  };
}

interface Given {
  baseUrl: string;
  apiKey: string;
  hris: string;
}

/** Asks for what the flags leave out; where nobody can answer, names every flag that is missing. */
async function complete({ partner, apiKey, hris }: Flags): Promise<Given> {
  const missing = Object.entries({ '--partner': partner, '--api-key': apiKey, '--hris': hris })
    .filter(([, value]) => value === undefined)
    .map(([flag]) => flag);
  if (missing.length > 0 && !canAsk())
    throw new ConnectorError({
      code: 'FLAG_MISSING',
      action: 'reject',
      message: `Nobody is here to be asked. Give ${missing.join(', ')} as well.`,
    });
  const isUrl = (text: string): string | undefined =>
    URL.canParse(text) ? undefined : 'Expected an address, https://.../v1/partner.';
  const isDatabase = (text: string): string | undefined =>
    /^(sqlite|postgres(ql)?|mariadb|env|file):./.test(text)
      ? undefined
      : 'Expected sqlite:PATH, postgres://... or mariadb://...';
  return {
    baseUrl: partner ?? (await ask('Address of the hiring platform', isUrl)),
    apiKey: fromHere(apiKey ?? (await askSecret('Its API key (not shown)'))),
    hris: fromHere(
      hris ?? (await ask('Database of the HR system, sqlite:PATH, postgres://... or mariadb://...', isDatabase)),
    ),
  };
}

/** A path on the command line is meant from this directory. */
function fromHere(value: string): string {
  return value.replace(/^(file|sqlite):(.+)$/s, (_all, kind: string, path: string) => `${kind}:${resolve(path)}`);
}

/** A database beside the tenant files moves with them. */
function fromFolder(url: string, folder: string): string {
  return url.replace(/^sqlite:(.+)$/s, (_all, path: string) => `sqlite:${relative(folder, path)}`);
}

/** What is written for something that nobody may have named, and why it is that one. */
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
    const picked = await choose(
      'Onboarding flow',
      flows.map(({ id, name }) => `${name} (${id})`),
    );
    return { value: flows[picked]?.id ?? only.id, why: 'as you chose' };
  }
  const listed = flows.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw unsettled(
    only === undefined
      ? 'The hiring platform has no active onboarding flow. Activate one in its dashboard, then run init again.'
      : `The hiring platform has ${flows.length} active onboarding flows: ${listed}. Name one with --flow.`,
  );
}

const START_DATE = 'Start date';

/** The custom field of the start date, and whether it is still to be defined. */
interface StartDate extends Settled {
  isNew: boolean;
}

/**
 * The hiring platform has no field of its own for the start date, so one of the candidate's custom fields holds it. One
 * of another name may be any date, so it is never taken unasked: an employee would begin on the wrong day.
 */
async function settleStartDate(
  { dateFields }: SeenPartner,
  { startDate, define }: { startDate?: string; define?: boolean },
): Promise<StartDate> {
  const label = startDate ?? START_DATE;
  const known = sameLabel(dateFields, label);
  if (known !== undefined)
    return { value: known, why: startDate === undefined ? 'by its name' : 'as given', isNew: false };
  if (define === true || (dateFields.length === 0 && (await isConfirmed(label))))
    return { value: label, why: 'defined there just now', isNew: true };
  if (startDate === undefined && dateFields.length > 0 && canAsk()) {
    const define = `none of them: define "${label}"`;
    const picked = await choose('Custom field that holds the first day of work', [...dateFields, define]);
    const chosen = dateFields[picked];
    if (chosen === undefined) return { value: label, why: 'defined there just now', isNew: true };
    return { value: chosen, why: 'as you chose', isNew: false };
  }
  const there = dateFields.length === 0 ? 'no candidate custom field of type date' : dateFields.join(', ');
  throw unsettled(
    `The hiring platform has no candidate custom field "${label}" of type date for the start date; it has ${there}. ` +
      'Name one with --start-date, or define it with --define.',
  );
}

async function isConfirmed(label: string): Promise<boolean> {
  if (!canAsk()) return false;
  const question = `The hiring platform has no date field for the start date. Define "${label}" there? [y/n]`;
  const expected = 'Expected y or n.';
  return (await ask(question, (answer) => (/^[yn]$/i.test(answer) ? undefined : expected))).toLowerCase() === 'y';
}

function unsettled(message: string): ConnectorError {
  return new ConnectorError({ code: 'INIT_UNCLEAR', action: 'reject', message });
}
