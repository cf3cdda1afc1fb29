import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { html } from 'hono/html';
import { rejected } from '../errors.ts';
import { count } from '../in-words.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import type { PersonExport, PersonParts } from '../operator/person.ts';
import { OTHER_PLACES, renderDataMap, STORE_PLACES } from '../store/data-map.ts';
import type { ErasureReceipt } from '../store/erasures.ts';
import { AS, byOf, example, type Flags, placesOf, renderTable, say, wrap } from './command.ts';
import { withClient, withStore } from './open.ts';
import { isConfirmed } from './prompt.ts';

const WHO = 'candidate id, e-mail address, employee id or number; candidate:ID, employee:ID say which';

export const commands = { person: definePerson };

function definePerson(command: Command): void {
  command.description('Find, export and erase what is kept about a person.');
  command
    .command('map')
    .description(
      'Print every place that can hold data about a person: which data, why, and for how long. It is the table ' +
        'in docs/privacy.md.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge person map'))
    .action((options: Flags) => {
      const text = `${renderDataMap().split('\n').map(wrap).join('\n')}\n`;
      say(options, { store: STORE_PLACES, elsewhere: OTHER_PLACES }, text);
    });
  about(command.command('find'))
    .description('Show where data about a person is kept, by ids. Shows no values.')
    .addHelpText('after', example('hirebridge person find acme eva.lind@example.com'))
    .action(runFind);
  about(command.command('export'))
    .description(
      'Write all data held about a person into a JSON file, and a readable page beside it. Only this user may ' +
        'read them.',
    )
    .requiredOption('--out <file>', 'path of the JSON file; the page gets the same name with .html')
    .addHelpText('after', example('hirebridge person export acme 501 --out eva.json'))
    .action(runExport);
  about(command.command('erase'))
    .description(
      "End a person's hires, erase them from store and landing tables, and sign a receipt. They are not taken in " +
        'again. If it is interrupted, a worker continues it.',
    )
    .addOption(
      new Option('--employee <what>', "what to do with the employee, which is the customer's record")
        .choices(['keep', 'terminate'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'reason for the receipt, without a name')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('hirebridge person erase acme 501 --employee keep --reason "request of 25 November"'))
    .action(runErase);
  about(command.command('hold'), `${WHO}; all for everybody of the tenant`)
    .description('Put a legal hold on a person, so that none of their data is erased, or release it.')
    .option('--reason <text>', 'why nothing may be erased')
    .option('--release', 'release the hold')
    .addHelpText('after', example('hirebridge person hold acme 501 --reason "case 12/26"'))
    .action(runHold);
  command
    .command('due')
    .argument('<tenant>', 'tenant whose privacy policy is asked')
    .description(
      'List the people policies.privacy applies to: who is checked again, and who waits for a decision and why.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge person due acme'))
    .action(runDue);
  about(
    command.command('decide'),
    'candidate id, as `person due` lists it; all for everybody who waits, except hires under way',
  )
    .description('Decide about a person the policy asks about. A worker erases as `person erase` does.')
    .addOption(new Option('--erase', 'have them erased; the employee is kept').conflicts('keep'))
    .option('--keep', 'keep them for good')
    .addHelpText(
      'after',
      example('hirebridge person decide acme 501 --keep', 'hirebridge person decide acme all --erase'),
    )
    .action(runDecide);
  command
    .command('receipts')
    .argument('<tenant>', 'tenant whose erasures to list')
    .description('List the erasures of a tenant with their receipts, and check each signature.')
    .option('--json', 'print JSON, the receipts with it')
    .addHelpText('after', example('hirebridge person receipts acme'))
    .action(runReceipts);
}

function about(command: Command, who = WHO): Command {
  return command
    .argument('<tenant>', 'tenant that holds it')
    .argument('<who>', who)
    .option('--json', 'print JSON')
    .option(...AS);
}

async function withParts<T>(
  command: Command,
  tenantId: string,
  options: Flags,
  use: (parts: PersonParts) => Promise<T>,
): Promise<T> {
  return withStore(command, (store, places) => use({ store, places, tenantId, by: byOf(options) }), tenantId);
}

async function runFind(tenantId: string, who: string, options: Flags, command: Command): Promise<void> {
  const { findPerson } = await import('../operator/person.ts');
  const found = await withParts(command, tenantId, options, (parts) => findPerson(parts, who));
  const { candidates, jobCandidates, enrolments, employees, legalHold, notAsked, places } = found;
  const ids = { candidate: candidates, application: jobCandidates, enrolment: enrolments, employee: employees };
  const lines = Object.entries(ids).map(([name, some]) => `${name.padEnd(12)} ${some.join(', ') || '-'}\n`);
  const held = legalHold === undefined ? '' : `Legal hold by ${legalHold.by}: ${legalHold.about}\n`;
  const table = renderTable(
    ['where', 'rows'],
    places.map(({ place, count }) => [place, count]),
  );
  const missing = notAsked.map((text) => `Not asked: ${text}\n`);
  const text = `${lines.join('')}${held}\n${places.length === 0 ? 'Nothing is held.\n' : table}\n${missing.join('')}`;
  say(options, found, text);
}

async function runExport(
  tenantId: string,
  who: string,
  options: Flags & { out: string },
  command: Command,
): Promise<void> {
  const { exportPerson } = await import('../operator/person.ts');
  const file = resolve(options.out);
  const page = `${file.replace(/\.json$/, '')}.html`;
  const held = await withParts(command, tenantId, options, (parts) => exportPerson(parts, who));
  const { writeNewFiles } = await import('../operator/new-tenant.ts');
  await writeNewFiles([
    { path: file, text: `${JSON.stringify(held, null, 2)}\n`, isSecret: true },
    { path: page, text: await renderPage(held), isSecret: true },
  ]);
  say(
    options,
    { file, page },
    `${file} and ${page}: all data that is held. They contain personal data: delete them after use.\n`,
  );
}

async function renderPage({ store, landed, hris, ...about }: PersonExport): Promise<string> {
  const sections = {
    'Who and when': [about],
    ...prefixed('Store', store),
    ...prefixed('Landed', landed),
    'HR system': hris,
  };
  const body = Object.entries(sections).map(([title, rows]) => html`<h2>${title}</h2>${rows.map(renderRow)}\n`);
  const page = html`<!doctype html><meta charset="utf-8"><title>What is held</title><style>
body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto}td{vertical-align:top;padding:0 1em 0 0}</style>
<h1>What is held</h1>${body}`;
  return String(await page);
}

function prefixed(title: string, rows: Record<string, unknown[]>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(rows).map(([name, some]) => [`${title}: ${name}`, some]));
}

function renderRow(row: unknown) {
  const cells = Object.entries(row as object).map(
    ([name, value]) =>
      html`<tr><td>${name}</td><td>${typeof value === 'string' ? value : JSON.stringify(value)}</td></tr>`,
  );
  return html`<table>${cells}</table><hr>`;
}

async function runErase(
  tenantId: string,
  who: string,
  options: Flags & { employee: 'keep' | 'terminate'; reason: string; yes?: boolean },
  command: Command,
): Promise<void> {
  const { erasePerson } = await import('../operator/person.ts');
  const question =
    `Erase this person of tenant ${tenantId} for good? ` + 'Their hires end, and they are not taken in again.';
  if (!(await isConfirmed(options, question))) return;
  const { employee, reason } = options;
  const places = await placesOf(command);
  const erase = ({ store, hires }: OperatorParts) =>
    erasePerson({ store, hires, places, tenantId, by: byOf(options) }, { who, reason, employee });
  const receipt = await withClient(places, erase, tenantId);
  say(options, receipt, renderReceipt(receipt));
}

export function renderReceipt(of: ErasureReceipt): string {
  const { receipt, tenant, doneAt, erased, employee, left, lastLook, signedBy } = of;
  const rows = Object.entries(erased).map(([place, count]) => [place, count]);
  return [
    `Erased at ${doneAt}. Receipt ${receipt}, signed by ${signedBy}.`,
    '',
    rows.length === 0 ? 'Nothing was held.' : renderTable(['where', 'rows'], rows),
    `Employee: ${employee}.`,
    ...left.map((text) => `Left: ${text}`),
    `Last look: nothing (SHA-256 ${lastLook.slice(0, 12)}). The receipt: hirebridge person receipts ${tenant} --json`,
    '',
  ].join('\n');
}

async function runHold(
  tenantId: string,
  who: string,
  options: Flags & { reason?: string; release?: boolean },
  command: Command,
): Promise<void> {
  const { holdPerson } = await import('../operator/person.ts');
  const { reason, release } = options;
  if ((reason === undefined) === (release !== true))
    throw rejected('HOLD_UNCLEAR', 'Give --reason TEXT to put a legal hold on the person, or --release to end it.');
  const given = release === true ? ({ release: true } as const) : { reason: reason ?? '' };
  const { changed, erasing } = await withParts(command, tenantId, options, (parts) => holdPerson(parts, who, given));
  const text =
    release === true ? (changed ? 'The hold is released.' : 'There was no hold.') : 'None of their data is erased.';
  const goesOn = release === true ? 'continues' : 'was asked for before and has stopped: part of it may be done';
  const underWay = erasing.map((id) => `Erasure ${id} ${goesOn}. See: hirebridge person receipts ${tenantId}\n`);
  say(options, { held: release !== true, changed, erasing }, `${text}\n${underWay.join('')}`);
}

/** Why a person waits, or is not erased yet. */
const WHY: Readonly<Record<string, string>> = {
  policy: 'the policy asks',
  limit: 'more in an hour than policies.changeLimits.erasuresPerHour',
  unconfirmed: 'no answer proves that they are gone',
  'hire-open': 'they are being hired',
  'legal-hold': 'a legal hold',
};

async function runDue(tenantId: string, options: Flags, command: Command): Promise<void> {
  const { listDue } = await import('../operator/person.ts');
  const all = await withStore(command, (store) => listDue({ store, tenantId }), tenantId);
  const rows = all.map(({ candidate, cause, state, since, why, decidedBy }) => [
    candidate,
    cause,
    decidedBy === undefined ? state : `${state} by ${decidedBy}`,
    since,
    WHY[why ?? ''] ?? '-',
  ]);
  const head = ['candidate', 'cause', 'state', 'since', 'why'];
  say(options, all, () => (rows.length === 0 ? 'Nobody.\n' : renderTable(head, rows)));
}

async function runDecide(
  tenantId: string,
  who: string,
  options: Flags & { erase?: boolean; keep?: boolean },
  command: Command,
): Promise<void> {
  const { decideDue } = await import('../operator/person.ts');
  const decision = options.erase === true ? 'erase' : 'keep';
  const decided = await withParts(command, tenantId, options, (parts) => {
    if (options.erase === true || options.keep === true) return decideDue(parts, who, decision);
    throw rejected('DECISION_UNCLEAR', 'Give either --erase to have them erased, or --keep to keep them.');
  });
  const what =
    decision === 'erase'
      ? 'A worker erases them; see: hirebridge person receipts'
      : 'They are kept. See: hirebridge person due';
  say(options, { count: decided, decision }, `${count(decided, 'person', 'people')}. ${what} ${tenantId}\n`);
}

async function runReceipts(tenantId: string, options: Flags, command: Command): Promise<void> {
  const { listReceipts } = await import('../operator/person.ts');
  const { assertSigned } = await import('../store/signing-key.ts');
  const all = await withStore(command, (store) => listReceipts(store, tenantId), tenantId);
  for (const { receipt } of all) if (receipt !== undefined) assertSigned(receipt);
  const rows = all.map(({ erasure, askedAt, by, state, receipt }) => [
    erasure,
    askedAt,
    by,
    state,
    receipt === undefined ? '-' : `${receipt.signedBy}, valid`,
  ]);
  const failing = all.flatMap((one) =>
    one.failing === undefined ? [] : `${one.erasure} keeps failing: ${one.failing}\n`,
  );
  const head = ['erasure', 'asked at', 'by', 'state', 'receipt signed by'];
  const table = () => (rows.length === 0 ? 'No erasures.\n' : renderTable(head, rows));
  say(options, all, () => `${table()}${failing.join('')}`);
}
