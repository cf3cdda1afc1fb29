import { existsSync } from 'node:fs';
import { isDeepStrictEqual, styleText } from 'node:util';
import type { Command } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { misspeltSettings, type Places, storeFile } from '../config.ts';
import { isConnectorError } from '../errors.ts';
import { count } from '../in-words.ts';
import { describeRole, isMissing, readProcesses } from '../operator/status.ts';
import { observableAssumptions } from '../partner/client/observe-assumptions.ts';
import { type Assumption, assumptions, defaultOverrides } from '../partner/contract/assumptions.ts';
import { type Restore, type RestoredTenant, readRestore } from '../store/backups.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { listUnjoined, type Unjoined } from '../store/people.ts';
import { createLease } from '../store/processes.ts';
import { type Evidence, listEvidence } from '../store/tenant-states.ts';
import { checkSearchAttributes, connectTemporal, temporalSettings } from '../temporal/connection.ts';
import { findTemporalCli } from '../temporal/dev-server/resolve-cli.ts';
import { currentTenants } from '../tenants/current-tenants.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { EXIT, example, type Flags, placesOf, say } from './command.ts';
import { assertExists, lookInto } from './open.ts';

export const commands = { doctor: defineDoctor };

function defineDoctor(command: Command): void {
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

interface DoctorOptions extends Flags {
  afterRestore?: boolean;
  all?: boolean;
}

async function runDoctor(options: DoctorOptions, command: Command): Promise<void> {
  if (options.afterRestore === true) return lookAfterRestore(options, command);
  const { findings, tenants, evidence } = await examine(await placesOf(command));
  const made = assumptionRows(tenants, evidence);
  const assumptions = options.all === true ? made : made.filter(isOpen);
  say(options, { checks: findings, assumptions }, () => renderDoctor(findings, assumptions, made.length));
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
  if (wrong.length > 0) process.exitCode = wrong.every((check) => check === 'processes') ? EXIT.partial : EXIT.refused;
}

/** Exits with 3 until every tenant has been compared. */
async function lookAfterRestore(options: DoctorOptions, command: Command): Promise<void> {
  const restore = await examineRestore(await placesOf(command));
  const text = restore === undefined ? 'This store was never restored.\n' : renderRestore(restore);
  say(options, restore ?? null, text);
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
  assertExists(storeFile(dataDir));
  const restored = await lookInto(dataDir, readRestore);
  if (restored === undefined) return undefined;
  const files = await loadTenants(tenantsDir, { secrets: 'skip' }).catch(() => []);
  const named = new Map(files.map((tenant) => [tenant.tenant, tenant]));
  return {
    ...restored,
    tenants: restored.tenants.map((one) => ({ ...one, look: lookAt(named.get(one.tenantId), restored) })),
  };
}

/** Opening would create the tables, so a store that does not exist yet is left alone. */
async function lookIfThere(dataDir: string, absent: string, look: (store: Store) => Promise<Found>): Promise<Found> {
  const file = storeFile(dataDir);
  if (file !== undefined && !existsSync(file)) return { state: 'open', message: absent };
  return lookInto(dataDir, look);
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

interface Finding {
  check: 'node' | 'settings' | 'temporal' | 'tenants' | 'store' | 'people' | 'processes';
  /** `open`: not wrong, but not set up yet. */
  state: 'good' | 'open' | 'wrong';
  message: string;
}

type Found = Omit<Finding, 'check'>;

interface Examined {
  findings: Finding[];
  tenants: Tenant[];
  /** Verdicts on assumptions from answers so far. */
  evidence: Evidence[];
}

/** Checks what it can without downloading, building or creating anything; calls no partner and no HRIS. */
export async function examine({ dataDir, tenantsDir }: Places): Promise<Examined> {
  const tenants: Tenant[] = [];
  const evidence: Evidence[] = [];
  const checks: Record<Finding['check'], () => Found | Promise<Found>> = {
    node: checkNode,
    settings: checkSettings,
    temporal: checkTemporal,
    tenants: async () => {
      tenants.push(...(await loadTenants(tenantsDir)));
      return { state: 'good', message: `${tenantsDir}: ${tenants.map(({ tenant }) => tenant).join(', ')}` };
    },
    store: () =>
      lookIfThere(dataDir, `${storeFile(dataDir)} is not there yet: the first hirebridge up makes it`, (store) =>
        checkStore(store, evidence),
      ),
    people: () => lookIfThere(dataDir, 'nobody is known yet', checkPeople),
    processes: () =>
      lookIfThere(dataDir, 'nothing was started yet: hirebridge up', (store) => checkProcesses(store, tenantsDir)),
  };
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(checks) as [Finding['check'], () => Found][])
    findings.push({ check, ...(await attempted(look)) });
  return { findings, tenants, evidence };
}

/** Normal before the first start, or before the first start of a new version. */
const STILL_OPEN = new Set(['TENANTS_UNREADABLE', 'TENANTS_MISSING', 'STORE_TOO_OLD', 'STORE_MISSING']);

/** Having nothing to load is normal at first; any other rejection is wrong. */
async function attempted(look: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    const isOpen = isConnectorError(error) && STILL_OPEN.has(error.code);
    return { state: isOpen ? 'open' : 'wrong', message: error instanceof Error ? error.message : String(error) };
  }
}

function checkNode(): Found {
  const [needed = 0] = /\d+/.exec(packageFile.engines.node)?.map(Number) ?? [];
  const good = Number(process.versions.node.split('.')[0]) >= needed;
  return { state: good ? 'good' : 'wrong', message: `${process.version}; ${packageFile.engines.node} is needed` };
}

function checkSettings(): Found {
  const misspelt = misspeltSettings();
  return misspelt.length === 0
    ? { state: 'good', message: 'no variable is misspelt' }
    : { state: 'wrong', message: misspelt.join(' ') };
}

/** A configured server must answer; otherwise a CLI is needed, which `up` can still obtain. */
async function checkTemporal(): Promise<Found> {
  if (temporalSettings().address !== undefined) {
    const connected = await connectTemporal();
    await checkSearchAttributes(connected.connection, connected.namespace).finally(connected.close);
    return { state: 'good', message: `namespace ${connected.namespace} at ${connected.address} answers` };
  }
  const cli = await findTemporalCli();
  if (cli === undefined) return { state: 'open', message: 'no CLI here yet; `up` and `demo` download or build it' };
  return { state: 'good', message: `CLI with server ${cli.server} at ${cli.path} (${cli.source})` };
}

const UNJOINED: Record<Unjoined['why'], string> = {
  'employee-unknown': 'its employee is not linked to a person; link them with hirebridge link import',
  'candidate-unknown': 'recorded before go-live without a candidate; nobody is asked if they are hired again',
  'owner-over': 'owns its person although it is over; answer its holds, or report this',
  'owner-missing': 'owns a person but has no row; the next reconcile starts it again',
};
/** At most this many are named; `--json` lists no more. */
const MOST_NAMED = 20;

/** Checks that hires and the records of people agree, for example after an upgrade that built these records. */
async function checkPeople(store: Store): Promise<Found> {
  const unjoined = await listUnjoined(store);
  if (unjoined.length === 0) return { state: 'good', message: 'every hire is linked to its person' };
  const named = unjoined
    .slice(0, MOST_NAMED)
    .map(({ tenantId, jobCandidateId, why }) => `job candidate ${jobCandidateId} of ${tenantId} (${UNJOINED[why]})`);
  const more = unjoined.length > named.length ? `, and ${unjoined.length - named.length} more` : '';
  const isWrong = unjoined.some(({ why }) => why !== 'candidate-unknown');
  const unlinked = count(unjoined.length, 'hire is', 'hires are');
  const message = `${unlinked} not linked to a person: ${named.join('; ')}${more}`;
  return { state: isWrong ? 'wrong' : 'open', message };
}

/** Checks which processes should run for the applied tenants; none should before the first start. */
async function checkProcesses(store: Store, tenantsDir: string): Promise<Found> {
  const known = await currentTenants(store, tenantsDir);
  const roles = await readProcesses(store, await readClock(store), known);
  const state = roles.some(isMissing) ? 'wrong' : 'good';
  return { state, message: roles.map((role) => describeRole(role, (ms) => `${Math.round(ms / 1_000)} s`)).join(' ') };
}

async function checkStore(store: Store, evidence: Evidence[]): Promise<Found> {
  evidence.push(...(await listEvidence(store)));
  const refusal = await refusedWrite(store);
  if (refusal === undefined) return { state: 'good', message: `${store.kind}, installation ${store.installationId}` };
  const message =
    `${store.kind} answers but takes no writes (${refusal}), so no webhook is stored, no hire goes on, and ` +
    'processes that run look as if they had ended. Let it take writes: space, not read-only, the rights of a worker.';
  return { state: 'wrong', message };
}

/** Why a row cannot be written, and deleted again; undefined if it can. */
async function refusedWrite(store: Store): Promise<string | undefined> {
  const lease = createLease(store, 'doctor');
  try {
    await lease.take(1_000);
    await lease.end();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface AssumptionRow {
  key: string;
  section: string;
  choice: string;
  /** The tenant file's key that overrides it; null if it cannot be overridden. */
  override: string | null;
  /** The values that tenants set there. */
  setBy: Record<string, unknown>;
  /** The verdict of tenants' answers; one contradiction is enough for `contradicted`. */
  evidence: 'contradicted' | 'confirmed' | 'not seen yet' | 'cannot be observed';
  contradictedBy: string[];
}

/** Every assumption with its override, the tenants that set it, and the verdicts of their partners' answers. */
function assumptionRows(tenants: readonly Tenant[], evidence: readonly Evidence[]): AssumptionRow[] {
  const names = new Set(tenants.map(({ tenant }) => tenant));
  const known = Map.groupBy(
    evidence.filter(({ tenantId }) => names.has(tenantId)),
    ({ assumption }) => assumption,
  );
  return Object.entries<Assumption>(assumptions).map(([key, { section, choice, override }]) => {
    const set = tenants.flatMap(({ tenant, partner }) => {
      const value = override === undefined ? undefined : partner.overrides[override];
      // If a tenant sets one override, the defaults of all others are filled in; skip those.
      const isDefault = override === undefined || isDeepStrictEqual(value, defaultOverrides[override]);
      return value === undefined || isDefault ? [] : [[tenant, value]];
    });
    return {
      key,
      section,
      choice,
      override: override === undefined ? null : `partner.overrides.${override}`,
      setBy: Object.fromEntries(set) as Record<string, unknown>,
      ...judgeEvidence(key, known.get(key) ?? [], Object.fromEntries(set)),
    };
  });
}

/** Judges an assumption; a contradiction from before the tenant overrode it is settled. */
function judgeEvidence(
  key: string,
  evidence: readonly Evidence[],
  setBy: Record<string, unknown>,
): Pick<AssumptionRow, 'evidence' | 'contradictedBy'> {
  const against = evidence.filter(({ verdict, tenantId }) => verdict === 'contradicted' && !(tenantId in setBy));
  const contradictedBy = against.map(({ tenantId }) => tenantId).sort();
  if (contradictedBy.length > 0) return { evidence: 'contradicted', contradictedBy };
  if (!observableAssumptions.has(key)) return { evidence: 'cannot be observed', contradictedBy };
  const isConfirmed = evidence.some(({ verdict }) => verdict === 'confirmed');
  return { evidence: isConfirmed ? 'confirmed' : 'not seen yet', contradictedBy };
}

/** Whether it needs attention: contradicted, not seen yet, or overridden by a tenant. */
function isOpen({ evidence, setBy }: AssumptionRow): boolean {
  return evidence === 'contradicted' || evidence === 'not seen yet' || Object.keys(setBy).length > 0;
}
