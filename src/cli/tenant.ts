import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { rejected } from '../errors.ts';
import { creditsOf, describeObserved } from '../hire/hire.ts';
import { checkApplications } from '../operator/check-applications.ts';
import {
  assertLive,
  confirmCompany,
  knownTenant,
  listObservedHires,
  listTenants,
  type ObservedHire,
  type Remains,
  readRemains,
  showTenant,
  startObservedHires,
  steerTenant,
  type TenantDetails,
} from '../operator/tenants.ts';
import { applyDefinitions } from '../store/applied-tenants.ts';
import type { HrisWay } from '../store/change-hris.ts';
import type { Store } from '../store/open-store.ts';
import { assertFirstFolder, currentTenants } from '../tenants/current-tenants.ts';
import { type PlannedApplication, planApplication } from '../tenants/plan-application.ts';
import { AS, byOf, endRefused, example, type Flags, placesOf, renderTable, say, sayBeside } from './command.ts';
import { withClient, withOpened, withStore } from './open.ts';
import { isConfirmed } from './prompt.ts';

export const commands = { tenant: defineTenant };

function defineTenant(command: Command): void {
  command.description('Apply, list, show and remove tenants.');
  for (const add of [addApply, addGoLive, addList, addShow, addRemove]) add(command);
  command
    .command('confirm-company')
    .description(
      'Confirm that the key of a tenant paused for COMPANY_MISMATCH belongs to the right company. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant that is paused')
    .option(...AS)
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge tenant confirm-company acme'))
    .action(runConfirmCompany);
}

async function runConfirmCompany(tenantId: string, options: Flags, command: Command): Promise<void> {
  const by = byOf(options);
  await withStore(command, async (store, { tenantsDir }) => {
    knownTenant(await currentTenants(store, tenantsDir), tenantId);
    await confirmCompany(store, { tenantId, by });
  });
  say(
    options,
    { confirmed: tenantId, by },
    `The company of ${tenantId} is confirmed by ${by}. The worker resumes the tenant; see: hirebridge status\n`,
  );
}

function addList(tenant: Command): void {
  tenant
    .command('list')
    .description('List every tenant that was ever applied, with its state and who applied it.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge tenant list'))
    .action(runList);
}

function addShow(tenant: Command): void {
  tenant
    .command('show')
    .description('Show a tenant as it is applied: its files, and what was done to it by whom.')
    .argument('<tenant>', 'tenant to show')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge tenant show acme'))
    .action(runShow);
}

async function runList(options: Flags, command: Command): Promise<void> {
  const tenants = await withStore(command, listTenants);
  const rows = tenants.map((one) => [one.tenantId, one.state, String(one.version), one.appliedAt, one.appliedBy]);
  const table = renderTable(['tenant', 'state', 'version', 'applied', 'by'], rows);
  say(options, tenants, rows.length === 0 ? 'No tenants. Apply some: hirebridge tenant apply\n' : `${table}\n`);
}

async function runShow(tenantId: string, options: Flags, command: Command): Promise<void> {
  const shown = await withStore(command, (store) => showTenant(store, tenantId));
  say(options, shown, renderTenant(shown));
}

function renderTenant(shown: TenantDetails): string {
  const { tenantId, state, mode, version, appliedAt, appliedBy, files, audit, observed } = shown;
  const texts = Object.entries(files).flatMap(([path, text]) => [`--- ${path}`, text.trimEnd()]);
  const acts = audit.map(({ at, by, act, details }) => {
    const changed = details === null || details === '' ? '' : `: ${details.split('\n').join('; ')}`;
    return `${at} ${act} by ${by}${changed}`;
  });
  const what = mode === 'observe' ? `${state}, and only observes` : state;
  const head = `${tenantId} is ${what}; version ${version}, applied ${appliedAt} by ${appliedBy}`;
  const seen = observed.length === 0 ? [] : ['', renderObserved(observed)];
  return `${[head, '', ...texts, '---', '', ...acts, ...seen].join('\n')}\n`;
}

function addRemove(tenant: Command): void {
  tenant
    .command('remove')
    .description(
      'End a tenant: its webhooks are answered 410, a worker ends its schedules and workflows. Needs no Temporal. ' +
        'With --erase, everything kept about it is erased as well, and a receipt is signed; that needs Temporal.',
    )
    .argument('<tenant>', 'tenant to remove; with --erase also one that is removed already')
    .option('--erase', 'erase everything kept about it: store, schedules, workflows and their histories')
    .addOption(
      new Option(
        '--landing <what>',
        "with --erase: what to do with its rows in landing tables, which are the customer's",
      ).choices(['keep', 'delete']),
    )
    .option('--reason <text>', 'with --erase: why, for the receipt; without a name')
    .option('--yes', 'with --erase: do not ask')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText(
      'after',
      example(
        'hirebridge tenant remove acme',
        'hirebridge tenant remove acme --erase --landing keep --reason "end of contract"',
      ),
    )
    .action(runRemove);
}

interface RemoveOptions extends Flags {
  erase?: boolean;
  landing?: 'keep' | 'delete';
  reason?: string;
  yes?: boolean;
}

async function runRemove(tenantId: string, options: RemoveOptions, command: Command): Promise<void> {
  if (options.erase === true) return runErase(tenantId, options, command);
  const remains = await withStore(command, async (store) => {
    await steerTenant(store, 'remove', { tenantId, by: byOf(options) });
    return untilEnded(store, tenantId);
  });
  say(
    options,
    { removed: tenantId, ...remains },
    `${[...endLines(tenantId, remains), ...leftLines(remains)].join('\n')}\n`,
  );
}

async function runErase(tenantId: string, options: RemoveOptions, command: Command): Promise<void> {
  const { landing, reason } = options;
  if (landing === undefined || reason === undefined)
    throw rejected(
      'ERASE_UNCLEAR',
      'Say with --landing keep or --landing delete what to do with its rows in landing tables, and with ' +
        '--reason TEXT why the tenant is erased. Nothing was changed.',
    );
  const { eraseTenant } = await import('../operator/person.ts');
  const { renderReceipt } = await import('./person.ts');
  const places = await placesOf(command);
  const rows =
    landing === 'delete' ? 'and its rows in landing tables are deleted' : 'and landing tables stay as they are';
  const question = `Erase everything kept about tenant ${tenantId} for good? The tenant is removed, ${rows}.`;
  if (!(await isConfirmed(options, question))) return;
  const receipt = await withClient(places, ({ store, hires }) =>
    eraseTenant({ store, hires, places, tenantId, by: byOf(options) }, { reason, landing }),
  );
  say(options, receipt, renderReceipt(receipt));
}

/** How long the command waits for a worker to end the tenant's work. */
const WAIT_MS = 30_000;

async function untilEnded(store: Store, tenantId: string): Promise<Remains> {
  let remains = await readRemains(store, tenantId);
  for (const end = performance.now() + WAIT_MS; !remains.ended && performance.now() < end; ) {
    await delay(500);
    remains = await readRemains(store, tenantId);
  }
  return remains;
}

function endLines(tenantId: string, { ended, writeUnderWay }: Remains): string[] {
  if (ended) return [`${tenantId} is removed: its webhooks are answered 410, its schedules and workflows have ended.`];
  const why = writeUnderWay ? 'a write is still under way' : 'no worker has done so yet';
  return [`${tenantId} is removed, and its schedules and workflows are still to be ended: ${why}.`];
}

function leftLines({ hires, openHolds, unsettled }: Remains): string[] {
  const counts = Object.entries(hires).map(([state, count]) => `${count} ${state}`);
  const asked = `${unsettled} hires have sent a request for an employee: check its result in the HR system.`;
  return [
    ...(unsettled === 0 ? [] : [asked]),
    `What is left: hires ${counts.length === 0 ? 'none' : counts.join(', ')}; open holds ${openHolds}; ` +
      'links, inbox and audit stay in the store.',
    'Employees, enrolments and its webhook subscription stay where they are: end the subscription at the partner.',
  ];
}

function addGoLive(tenant: Command): void {
  tenant
    .command('go-live')
    .description(
      'Start the people who were hired while a tenant only observed, after a preview with credits. The partner ' +
        'shows no date of a hire, so the date is when they were first seen; people found by the baseline are left ' +
        'out. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant that is live')
    .requiredOption('--since <date>', 'first seen on this day (UTC) or later, as 2026-01-31', day)
    .option('--yes', 'start them without asking')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge tenant go-live acme --since 2026-01-31'))
    .action(runGoLive);
}

function day(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Expected a day such as 2026-01-31.');
  return ms;
}

async function runGoLive(
  tenantId: string,
  options: Flags & { since: number; yes?: boolean },
  command: Command,
): Promise<void> {
  await withStore(command, async (store) => {
    await assertLive(store, tenantId);
    const hires = await listObservedHires(store, tenantId, options.since);
    const ids = hires.map(({ jobCandidateId }) => jobCandidateId);
    if (hires.length === 0)
      return say(options, { started: ids }, 'Everybody observed since then is started already.\n');
    sayBeside(options, renderObserved(hires));
    if (!(await isConfirmed(options, 'Start these hires?'))) return endRefused();
    await startObservedHires(store, { tenantId, by: byOf(options) }, hires);
    say(options, { started: ids }, 'A worker starts them within a minute.\n');
  });
}

function addApply(tenant: Command): void {
  tenant
    .command('apply')
    .description(
      'Apply the tenant files of a directory: shows what changes, runs `check` on it, asks, and running processes ' +
        'take it up. Needs no Temporal.',
    )
    .argument('[dir]', 'directory of tenant files; by default the one of --tenants')
    .option('--unchecked', 'apply although `check` fails, or without asking both sides')
    .addOption(
      new Option('--hris <way>', 'what a changed HR connection means: the same HR system moved, or a new one').choices([
        'keep',
        'new',
      ]),
    )
    .option('--json', 'print JSON')
    .option('--yes', 'apply without asking, and start people who were hired while a tenant only observed')
    .option(...AS)
    .addHelpText('after', example('hirebridge tenant apply', 'hirebridge tenant apply ./tenants --yes'))
    .action(runApply);
}

interface ApplyOptions extends Flags {
  hris?: HrisWay;
  unchecked?: boolean;
  yes?: boolean;
}

async function runApply(dir: string | undefined, options: ApplyOptions, command: Command) {
  const places = await placesOf(command);
  const from = dir === undefined ? places.tenantsDir : resolve(dir);

  await assertFirstFolder(places.dataDir, from, 'skip');
  await withOpened(places, 'always', async (store) => {
    const plan = await planApplication(store, from, { secrets: 'skip' });
    const facts = { applied: plan.applications.map(({ tenantId }) => tenantId), same: plan.same, absent: plan.absent };
    sayBeside(options, renderPlan(plan));
    if (plan.applications.length === 0) return say(options, facts, '');
    if (!isHrisSettled(plan, options)) return endRefused();
    if (options.unchecked !== true && !(await isChecked(store, plan, options))) return endRefused();
    const meanwhile = await hiredMeanwhile(store, plan);
    for (const { tenantId, hires } of meanwhile)
      sayBeside(options, `\n${tenantId} goes live:\n${renderObserved(hires)}`);
    if (!(await isConfirmed(options, 'Apply?'))) return endRefused();
    if (!(await applyDefinitions(store, plan.applications, byOf(options), options))) throw overtaken();
    say(options, facts, 'Applied. Running processes take it up within seconds.\n');
    for (const one of meanwhile) await offerStart(store, one, options);
  });
}

/** Checks that the user said what a changed HR connection means, if people are known in the old one. */
function isHrisSettled({ applications }: PlannedApplication, { hris: way, ...options }: ApplyOptions): boolean {
  const problems = applications.flatMap(({ tenantId, hris }) => {
    if (hris === undefined) return [];
    const { from, to, people, requisitions, resumes, sharedWith } = hris;
    if (way === 'keep' && from !== to && sharedWith.length > 0)
      return [
        `${tenantId}: ${sharedWith.join(', ')} would still have the HR system "${from}". ` +
          'Rename the connection in their files, too, and apply them together.',
      ];
    if (way === 'new' && from === to)
      return [
        `${tenantId}: a new HR system needs a name of its own: change hris.connection, which is "${from}" as before.`,
      ];
    if (way !== undefined) return [];
    const known = Object.entries({ people, requisitions, resumes }).filter(([what, of]) => of > 0 || what === 'people');
    return [
      `${tenantId}: ${known.map(([what, of]) => `${of} ${what}`).join(' and ')} are known in the HR system ` +
        `"${from}", and it is to be ` +
        `${from === to ? 'another address or kind' : `"${to}"`}.\n` +
        '  Say what that means:\n' +
        '  --hris keep  the same HR system, moved or renamed: everybody stays linked\n' +
        '  --hris new   another HR system: nobody in the old one is touched; a hold asks about people hired again',
    ];
  });
  if (problems.length > 0) say(options, { problems }, `${problems.join('\n')}\nNothing was applied.\n`);
  return problems.length === 0;
}

/** Reports failed checks. A tenant whose secret is not on this machine is checked later, by its processes. */
async function isChecked(store: Store, plan: PlannedApplication, options: ApplyOptions): Promise<boolean> {
  const { failures, unchecked } = await checkApplications(store, plan.applications);
  const lines = [
    ...unchecked.map(({ tenantId, why }) => `${tenantId} is not checked from here: ${why}\n`),
    ...failures.map(({ tenantId, check, message }) => `fail  ${tenantId} ${check}  ${message}\n`),
  ];
  sayBeside(options, lines.join(''));
  if (failures.length === 0) return true;
  const next = 'Nothing was applied. Correct it, or apply it as it is: hirebridge tenant apply --unchecked\n';
  say(options, { failures, unchecked }, next);
  return false;
}

function renderPlan({ applications, same, absent, warnings }: PlannedApplication): string {
  const lines = applications.flatMap(({ tenantId, kind, changes }) => {
    const shown = changes.length === 0 ? ['(comments or place of the files only)'] : changes;
    return [`${tenantId}: ${KINDS[kind]}`, ...shown.map((line) => `  ${line}`)];
  });
  if (same.length > 0) lines.push(`unchanged: ${same.join(', ')}`);
  if (absent.length > 0)
    lines.push(`applied, but without a file here: ${absent.join(', ')} (to end one: hirebridge tenant remove ID)`);
  return `${[...lines, ...warnings.map((text) => `Warning: ${text}`)].join('\n')}\n`;
}

const KINDS = { new: 'new', changed: 'changes', back: 'was removed and comes back' } as const;

interface Meanwhile {
  tenantId: string;
  hires: ObservedHire[];
}

/** People who were hired while the tenants that go live now only observed. */
async function hiredMeanwhile(store: Store, { applications }: PlannedApplication): Promise<Meanwhile[]> {
  const goLive = applications.filter((one) => one.goesLive).map(({ tenantId }) => tenantId);
  const listed = goLive.map(async (tenantId) => ({ tenantId, hires: await listObservedHires(store, tenantId) }));
  return (await Promise.all(listed)).filter(({ hires }) => hires.length > 0);
}

/** They are started only if a person says so. */
async function offerStart(store: Store, { tenantId, hires }: Meanwhile, options: ApplyOptions): Promise<void> {
  const starts = await isConfirmed(options, `Start the ${hires.length} observed hires of ${tenantId}?`);
  if (starts) await startObservedHires(store, { tenantId, by: byOf(options) }, hires);
  const later = `They stay recorded. To start them later: hirebridge tenant go-live ${tenantId} --since DATE\n`;
  sayBeside(options, starts ? `A worker starts those of ${tenantId} within a minute.\n` : later);
}

function overtaken(): Error {
  return rejected(
    'TENANTS_CHANGED',
    'Somebody applied other files meanwhile, so nothing was applied. Run it again to see the difference.',
  );
}

const MOST_SHOWN = 200;

/** People hired while a tenant only observed, what each hire would do, and their total cost. */
function renderObserved(hires: readonly ObservedHire[]): string {
  const rows = hires
    .slice(0, MOST_SHOWN)
    .map(({ jobCandidateId, jobId, firstSeenAt, observed }) => [
      jobCandidateId,
      jobId ?? '-',
      firstSeenAt,
      describeObserved(observed),
    ]);
  const more = hires.length > MOST_SHOWN ? [`... and ${hires.length - MOST_SHOWN} more`] : [];
  const sum = `${hires.length} hired while it only observed; starting them costs at most ${creditsOf(hires)} credits.`;
  return `${[renderTable(['job candidate', 'job', 'first seen', 'would'], rows), ...more, sum].join('\n')}\n`;
}
