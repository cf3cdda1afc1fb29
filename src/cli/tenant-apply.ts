import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { ConnectorError } from '../errors.ts';
import { creditsOf, describeObserved } from '../hire/hire.ts';
import { checkApplications } from '../operator/check-applications.ts';
import { listObservedHires, type ObservedHire, startObservedHires } from '../operator/tenants.ts';
import { applyDefinitions } from '../store/applied-tenants.ts';
import type { HrisWay } from '../store/change-hris.ts';
import type { Store } from '../store/open-store.ts';
import { type PlannedApplication, planApplication } from '../tenants/plan-application.ts';
import { EXIT } from './exit.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';
import { renderTable, say } from './print.ts';
import { isConfirmed } from './prompt.ts';

export function addApply(tenant: Command): void {
  const command = tenant
    .command('apply')
    .description(
      'Apply the tenant files of a directory: shows what changes, runs `check` on it, asks, and running processes ' +
        'take it up. Needs no Temporal.',
    )
    .argument('[dir]', 'directory of tenant files; by default the one of --tenants')
    .option('--unchecked', 'apply what `check` says cannot work, or without asking both sides')
    .addOption(
      new Option('--hris <way>', 'what another HR connection means: the same HR system moved, or a new one').choices([
        'keep',
        'new',
      ]),
    )
    .option('--json', 'print JSON')
    .option('--yes', 'apply without asking, and start who was hired while a tenant only observed');
  asOption(command)
    .addHelpText('after', example('hirebridge tenant apply', 'hirebridge tenant apply ./tenants --yes'))
    .action(runApply);
}

interface ApplyOptions {
  hris?: HrisWay;
  unchecked?: boolean;
  json?: boolean;
  yes?: boolean;
  as?: string;
}

async function runApply(dir: string | undefined, options: ApplyOptions, command: Command) {
  const places = await placesOf(command);
  const from = dir === undefined ? places.tenantsDir : resolve(dir);

  await withStore(places, async (store) => {
    const plan = await planApplication(store, from, { secrets: 'skip' });
    // With --json the words go to standard error, so that what is printed stays JSON.
    const out = options.json === true ? process.stderr : process.stdout;
    const facts = { applied: plan.applications.map(({ tenantId }) => tenantId), same: plan.same, absent: plan.absent };
    out.write(renderPlan(plan));
    if (plan.applications.length === 0) return say(options, facts, '');
    if (!isHrisSettled(plan, options)) {
      process.exitCode = EXIT.refused;
      return;
    }
    if (options.unchecked !== true && !(await isChecked(store, plan, options))) {
      process.exitCode = EXIT.refused;
      return;
    }
    const meanwhile = await hiredMeanwhile(store, plan);
    for (const { tenantId, hires } of meanwhile) out.write(`\n${tenantId} goes live:\n${renderObserved(hires)}`);
    if (options.yes !== true && !(await isConfirmed('Apply?'))) {
      process.exitCode = EXIT.refused;
      return;
    }
    if (!(await applyDefinitions(store, plan.applications, byOf(options), options))) throw await overtaken();
    say(options, facts, 'Applied. Running processes take it up within seconds.\n');
    for (const one of meanwhile) await offerStart(store, one, options);
  });
}

/** Says what another HR connection means, where people are known in the one before. */
function isHrisSettled({ applications }: PlannedApplication, { hris: way, json }: ApplyOptions): boolean {
  const problems = applications.flatMap(({ tenantId, hris }) => {
    if (hris === undefined) return [];
    const { from, to, people, sharedWith } = hris;
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
    return [
      `${tenantId}: ${people} people are known in the HR system "${from}", and it is to be ` +
        `${from === to ? 'another address or kind' : `"${to}"`}.\n` +
        '  Say what that means:\n' +
        '  --hris keep  the same HR system, moved or renamed: everybody stays linked\n' +
        '  --hris new   another HR system: nobody of the old one is touched; whoever is hired again is asked about',
    ];
  });
  if (problems.length > 0) say({ json }, { problems }, `${problems.join('\n')}\nNothing was applied.\n`);
  return problems.length === 0;
}

/** Says what fails; where a secret is not on this machine, nothing can be asked, and the processes will. */
async function isChecked(store: Store, plan: PlannedApplication, options: ApplyOptions): Promise<boolean> {
  const { failures, unchecked } = await checkApplications(store, plan.applications);
  const lines = [
    ...unchecked.map(({ tenantId, why }) => `${tenantId} is not checked from here: ${why}\n`),
    ...failures.map(({ tenantId, check, message }) => `fail  ${tenantId} ${check}  ${message}\n`),
  ];
  (options.json === true ? process.stderr : process.stdout).write(lines.join(''));
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
    lines.push(`applied, and without a file here: ${absent.join(', ')} (to end one: hirebridge tenant remove ID)`);
  return `${[...lines, ...warnings.map((text) => `Warning: ${text}`)].join('\n')}\n`;
}

const KINDS = { new: 'new', changed: 'changes', back: 'was removed and comes back' } as const;

interface Meanwhile {
  tenantId: string;
  hires: ObservedHire[];
}

/** Who was hired while the tenants that go live now only observed. */
async function hiredMeanwhile(store: Store, { applications }: PlannedApplication): Promise<Meanwhile[]> {
  const goLive = applications.filter((one) => one.goesLive).map(({ tenantId }) => tenantId);
  const listed = goLive.map(async (tenantId) => ({ tenantId, hires: await listObservedHires(store, tenantId) }));
  return (await Promise.all(listed)).filter(({ hires }) => hires.length > 0);
}

/** They are started on a person's word alone. */
async function offerStart(store: Store, { tenantId, hires }: Meanwhile, options: ApplyOptions): Promise<void> {
  const starts =
    options.yes === true || (await isConfirmed(`Start the ${hires.length} observed hires of ${tenantId}?`));
  if (starts) await startObservedHires(store, { tenantId, by: byOf(options) }, hires);
  const later = `They stay recorded. To start them later: hirebridge tenant go-live ${tenantId} --since DATE\n`;
  (options.json === true ? process.stderr : process.stdout).write(
    starts ? `A worker starts those of ${tenantId} within a minute.\n` : later,
  );
}

async function overtaken(): Promise<Error> {
  return new ConnectorError({
    code: 'TENANTS_CHANGED',
    action: 'reject',
    message: 'Somebody applied other files meanwhile, so nothing was applied. Run it again to see the difference.',
  });
}

/** So many are shown one by one. */
const MOST_SHOWN = 200;

/** Who was hired while a tenant only observed, what each would come to, and what they cost together. */
export function renderObserved(hires: readonly ObservedHire[]): string {
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
