import { styleText } from 'node:util';
import type { Command } from 'commander';
import { type Places, storeUrl } from '../config.ts';
import { type AssumptionRow, assumptionRows, examine, type Finding, isOpen } from '../operator/examine.ts';
import { type Restore, type RestoredTenant, readRestore } from '../store/backups.ts';
import { openStore } from '../store/open-store.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { EXIT } from './exit.ts';
import { example, placesOf } from './options.ts';

export function defineDoctor(command: Command): void {
  command
    .description(
      'Check this installation, and list the assumptions about the partner that answers contradict or have not shown ' +
        'yet, or that tenants override.',
    )
    .option('--after-restore', 'show the result of the last restore of the store, and what HR should check')
    .option('--all', 'list every assumption made where the specification is silent')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('hirebridge doctor', 'hirebridge doctor --all --json', 'hirebridge doctor --after-restore'),
    )
    .action(runDoctor);
}

interface DoctorOptions {
  afterRestore?: boolean;
  all?: boolean;
  json?: boolean;
}

async function runDoctor(options: DoctorOptions, command: Command): Promise<void> {
  if (options.afterRestore === true) return lookAfterRestore(options, command);
  const { findings, tenants, evidence } = await examine(await placesOf(command));
  const made = assumptionRows(tenants, evidence);
  const assumptions = options.all === true ? made : made.filter(isOpen);
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ checks: findings, assumptions }, null, 2)}\n`
      : renderDoctor(findings, assumptions, made.length),
  );
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
  if (wrong.length > 0) process.exitCode = wrong.every((check) => check === 'processes') ? EXIT.partial : EXIT.refused;
}

/** Exits with 3 until every tenant has been compared. */
async function lookAfterRestore({ json = false }: DoctorOptions, command: Command): Promise<void> {
  const restore = await examineRestore(await placesOf(command));
  if (json) process.stdout.write(`${JSON.stringify(restore ?? null, null, 2)}\n`);
  else process.stdout.write(restore === undefined ? 'This store was never restored.\n' : renderRestore(restore));
  if (restore?.tenants.some(({ isCompared }) => !isCompared) === true) process.exitCode = EXIT.partial;
}

function renderRestore({ at, by, knownUntil, tenants }: AfterRestore): string {
  const since =
    knownUntil === 0 ? '' : `; the backup knows nothing that came after ${new Date(knownUntil).toISOString()}`;
  const parts = tenants.map(({ tenantId, isCompared, takenUp, asked, look }) => {
    const compared = isCompared
      ? 'compared with both sides'
      : `not compared yet; now: hirebridge reconcile ${tenantId} --full`;
    const hires = takenUp.map(({ jobCandidateId, state, employeeId, how }) => {
      const employee = employeeId === null ? 'no employee yet' : `employee ${employeeId}, ${how ?? 'not joined'}`;
      return `  taken up  job candidate ${jobCandidateId}: ${state}, ${employee}`;
    });
    const holds = asked.map(({ holdId, jobCandidateId, code, isOpen }) => {
      const whom = jobCandidateId === null ? 'the tenant' : `job candidate ${jobCandidateId}`;
      return `  asked     ${whom}: ${code}${isOpen ? `; hirebridge hold show ${holdId}` : ', answered'}`;
    });
    return [`${tenantId}: ${compared}`, ...hires, ...holds, `  HR should look for ${look}`].join('\n');
  });
  return `${[`Restored at ${new Date(at).toISOString()} by ${by}${since}.`, ...parts].join('\n\n')}\n`;
}

const COLOURS = { good: 'green', open: 'yellow', wrong: 'red' } as const;

function renderDoctor(findings: readonly Finding[], assumptions: readonly AssumptionRow[], made: number): string {
  const checks = findings.map(
    ({ check, state, message }) => `${styleText(COLOURS[state], state.padEnd(5))}  ${check.padEnd(13)}  ${message}`,
  );
  return [
    ...checks,
    '',
    `${assumptions.length} of ${made} assumptions where the specification is silent` +
      (assumptions.length < made ? '; all of them: hirebridge doctor --all' : ''),
    ...(assumptions.length > 0
      ? ['(question, section, what answers showed, assumption [key that overrides it]):']
      : []),
    ...assumptions.map(renderAssumption),
    '',
  ].join('\n');
}

function renderAssumption({ key, section, choice, override, setBy, evidence, contradictedBy }: AssumptionRow): string {
  const set = Object.entries(setBy).map(([tenant, value]) => `; ${tenant} has ${JSON.stringify(value)}`);
  const overridden = override === null ? '' : ` [${override}${set.join('')}]`;
  const shown = contradictedBy.length === 0 ? evidence : `contradicted by ${contradictedBy.join(', ')}`;
  return `${key.padEnd(6)} ${section.padEnd(5)} ${shown.padEnd(18)}  ${choice}${overridden}`;
}

interface AfterRestore extends Omit<Restore, 'tenants'> {
  tenants: (RestoredTenant & {
    /** What only HR can check. */
    look: string;
  })[];
}

/** The results of the last restore: hires taken up again, questions asked, and what HR should check itself. */
async function examineRestore({ tenantsDir, dataDir }: Places): Promise<AfterRestore | undefined> {
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  try {
    const restored = await readRestore(store);
    if (restored === undefined) return undefined;
    const files = await loadTenants(tenantsDir, { secrets: 'skip' }).catch(() => []);
    const named = new Map(files.map((tenant) => [tenant.tenant, tenant]));
    return {
      ...restored,
      tenants: restored.tenants.map((one) => ({ ...one, look: lookAt(named.get(one.tenantId), restored) })),
    };
  } finally {
    await store.close();
  }
}

/** An employee is found by our reference, or by an enrolment with it; without either, only HR can find them. */
function lookAt(tenant: Tenant | undefined, { knownUntil, at }: Restore): string {
  const since = knownUntil === 0 ? 'the backup' : new Date(knownUntil).toISOString();
  const where = tenant === undefined ? 'the HR system' : `the HR system (${tenant.hris.connection})`;
  const whom =
    tenant?.policies.onboarding === 'skip'
      ? 'employees made'
      : 'employees made for people who left again before the restore';
  return `${whom} in ${where} between ${since} and ${new Date(at).toISOString()}, whom no hire here names`;
}
