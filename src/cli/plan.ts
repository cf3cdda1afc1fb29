import type { Command } from 'commander';
import { type Places, readConfig, storeExists, storeFile } from '../config.ts';
import { armFailpoints } from '../failpoint.ts';
import { type Applied, applySavedPlan, planRevert } from '../operator/apply-plan.ts';
import { type OpenTenant, withTenant } from '../operator/open-tenant.ts';
import { planHire } from '../operator/plan-hire.ts';
import { planStreams } from '../operator/plan-streams.ts';
import { assertKnownStream } from '../operator/streams.ts';
import { readOwnTenant } from '../operator/tenants.ts';
import { maskPlan, type PlanView } from '../operator/writes.ts';
import { noteLook } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import { findPlan } from '../store/plans.ts';
import { AS, byOf, EXIT, example, type Flags, placesOf, renderChange, renderTable, say } from './command.ts';
import { assertExists, withOpened } from './open.ts';

/** At most this many records are shown; `--json` has all. */
const MOST_SHOWN = 20;

export const commands = { plan: definePlan, apply: defineApply, revert: defineRevert };

function definePlan(command: Command): void {
  command
    .description(
      'Show what would be written and why: of one stream, of those that are scheduled, or of one hire. Reads both ' +
        'sides, writes to neither, and keeps the plan under a hash for `apply`. Exit code 2: there is something to ' +
        'write.',
    )
    .argument('<tenant>', 'tenant to plan for')
    .argument('[subject]', 'a stream (jobs, candidates), or "hire"; by default those of the tenant file')
    .argument('[jobCandidateId]', 'with "hire": the partner’s id of the job candidate')
    .option('--reveal', 'show sensitive values too; the audit trail records who did')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge plan acme jobs', 'hirebridge plan acme hire 5012'))
    .action(runPlan);
}

async function runPlan(
  tenantId: string,
  name: string | undefined,
  id: string | undefined,
  ...[options, command]: [PlanOptions, Command]
): Promise<void> {
  if (name !== undefined && name !== 'hire') assertKnownStream(name);
  await showPlans(await placesOf(command), tenantId, options, async (open, by) =>
    name === 'hire' ? [await planHire(open, id ?? '', by)] : planStreams(open, name, by),
  );
}

function defineApply(command: Command): void {
  command
    .description(
      'Write exactly what a plan contains. A record that changed since is named and not written. If it is ' +
        'interrupted, apply it again: the rest is written once. Exit code 3: not everything was written.',
    )
    .argument('<hash>', 'hash of the plan, or its beginning, as `plan` and `revert` print it')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge apply 3fa1c09b77de'))
    .action(runApply);
}

async function runApply(hash: string, options: Flags, command: Command): Promise<void> {
  const places = await placesOf(command);
  assertExists(storeFile(places.dataDir));
  armFailpoints({ killAt: readConfig().HIREBRIDGE_FAILPOINT_KILL });
  const applied = await withOpened(places, 'always', async (store) => {
    const plan = await findPlan(store, hash);
    return withTenant({ store, places, tenantId: plan.tenantId }, (open) => applySavedPlan(open, plan, byOf(options)));
  });
  say(options, applied, renderApplied(applied));
  if (applied.changed.length + applied.refused.length > 0) process.exitCode = EXIT.partial;
}

function renderApplied({ written, already, changed, refused }: Applied): string {
  const lines = [`${written} written${already === 0 ? '' : `, ${already} there already`}`];
  lines.push(...changed.map(({ record, reason }) => `${record}: not written: ${reason}`));
  lines.push(...refused.map(({ record, reason }) => `${record}: refused: ${reason}`));
  return `${lines.join('\n')}\n`;
}

function defineRevert(command: Command): void {
  command
    .description(
      'Plan to put back the values that one mapping version replaced in landed records, unless somebody changed them ' +
        'since. Writes nothing: the plan is applied like any other. Exit code 2: there is something to put back.',
    )
    .argument('<tenant>', 'tenant whose mapping to undo')
    .requiredOption('--mapping <version>', 'the mapping version, as `audit` and `mapping show` name it')
    .option('--reveal', 'show sensitive values too; the audit trail records who did')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge revert acme --mapping 9c1d2e3f4a5b'))
    .action(runRevert);
}

async function runRevert(
  tenantId: string,
  options: PlanOptions & { mapping: string },
  command: Command,
): Promise<void> {
  await showPlans(await placesOf(command), tenantId, options, (open, by) => planRevert(open, options.mapping, by));
}

interface PlanOptions extends Flags {
  reveal?: boolean;
}

/** Makes plans on the store as it is, and prints them. */
async function showPlans(
  places: Places,
  tenantId: string,
  options: PlanOptions,
  make: (open: OpenTenant, by: string) => Promise<PlanView[]>,
): Promise<void> {
  if (!storeExists(places.dataDir)) await readOwnTenant(places.tenantsDir, tenantId);
  await withOpened(places, 'if-empty', async (store) => {
    const plans = await withTenant({ store, places, tenantId }, (open) => make(open, byOf(options)));
    await printPlans(store, plans, options);
  });
}

/** Prints plans with sensitive values masked unless revealed; exit code 2 means that there is something to write. */
async function printPlans(store: Store, plans: readonly PlanView[], options: PlanOptions): Promise<void> {
  const [first] = plans;
  const isRevealed = options.reveal === true;
  if (first !== undefined) {
    const [, id] = /^hire (.+)\/\d+$/.exec(first.subject) ?? [];
    const about =
      id === undefined
        ? { what: `plan of ${plans.map(({ subject }) => subject).join(', ')}` }
        : { what: 'plan of a hire', of: { kind: 'job-candidate', id } };
    await noteLook(store, { by: byOf(options), tenantId: first.tenant, ...about, isRevealed });
  }
  const shown = isRevealed ? plans : plans.map(maskPlan);
  say(options, shown, shown.length === 0 ? NONE : shown.map(renderPlan).join('\n'));
  if (plans.some(({ hash, records }) => hash !== undefined || records.length > 0)) process.exitCode = EXIT.refused;
}

const NONE =
  'The tenant file schedules no stream that can be planned. To plan one all the same: hirebridge plan TENANT STREAM\n';

function renderPlan({ subject, mapping, hash, read, records, notes }: PlanView): string {
  const by = mapping === null ? '' : `, mapping ${mapping.slice(0, 12)}`;
  const found = records.length === 0 ? 'nothing to write' : `${records.length} to write`;
  const head = `${subject}: ${read} read${by}; ${found}\n`;
  const rows = records
    .slice(0, MOST_SHOWN)
    .flatMap(({ record, target, kind, why, changes }) =>
      Object.entries(changes).map(([field, change], at) => [
        ...(at === 0 ? [record, `${kind} ${target}`] : ['', '']),
        field,
        renderChange(change),
        at === 0 ? why : '',
      ]),
    );
  const table = rows.length === 0 ? '' : `\n${renderTable(['record', 'write', 'field', 'change', 'why'], rows)}\n`;
  const more = records.length > MOST_SHOWN ? `... and ${records.length - MOST_SHOWN} more; --json shows all\n` : '';
  const left = notes.map(({ record, what, reason }) => `${record}: ${what}: ${reason}\n`).join('');
  const next = hash === undefined ? '' : `\nTo write exactly this: hirebridge apply ${hash.slice(0, 12)}\n`;
  return `${head}${table}${more}${left}${next}`;
}

/** `sync --dry-run`: what a pass would write, record by record. */
export async function showSync(
  places: Places,
  { tenantId, stream, json }: { tenantId: string; stream: string | undefined; json: boolean },
): Promise<void> {
  await showPlans(places, tenantId, { json }, (open, by) => planStreams(open, stream, by));
}
