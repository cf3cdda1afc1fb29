import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import packageFile from '../../package.json' with { type: 'json' };
import { type Places, storeFile, storeUrl } from '../config.ts';
import { isConnectorError } from '../errors.ts';
import { observableAssumptions } from '../partner/client/observe-assumptions.ts';
import type { Assumption } from '../partner/contract/assumptions/assumption.ts';
import { assumptions } from '../partner/contract/assumptions.ts';
import { defaultOverrides } from '../partner/contract/overrides.ts';
import { openStore, readClock } from '../store/open-store.ts';
import { listUnjoined, type Unjoined } from '../store/people.ts';
import { type Evidence, listEvidence } from '../store/tenant-states.ts';
import { connectTemporal, temporalSettings } from '../temporal/connection.ts';
import { findTemporalCli } from '../temporal/dev-server/resolve-cli.ts';
import { currentTenants } from '../tenants/current-tenants.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { describeRole, isMissing, readProcesses } from './processes.ts';

export interface Finding {
  check: 'node' | 'temporal' | 'tenants' | 'store' | 'people' | 'processes';
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
export async function examine(places: Places): Promise<Examined> {
  const tenants: Tenant[] = [];
  const evidence: Evidence[] = [];
  const checks: Record<Finding['check'], () => Found | Promise<Found>> = {
    node: checkNode,
    temporal: checkTemporal,
    tenants: async () => {
      tenants.push(...(await loadTenants(places.tenantsDir)));
      return { state: 'good', message: `${places.tenantsDir}: ${tenants.map(({ tenant }) => tenant).join(', ')}` };
    },
    store: () => checkStore(places.dataDir, evidence),
    people: () => checkPeople(places.dataDir),
    processes: () => checkProcesses(places),
  };
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(checks) as [Finding['check'], () => Found][])
    findings.push({ check, ...(await attempted(look)) });
  return { findings, tenants, evidence };
}

/** Normal before the first start, or before the first start of a new version. */
const STILL_OPEN = new Set(['TENANTS_UNREADABLE', 'TENANTS_MISSING', 'STORE_TOO_OLD']);

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

/** A configured server must answer; otherwise a CLI is needed, which `up` can still obtain. */
async function checkTemporal(): Promise<Found> {
  if (temporalSettings().address !== undefined) {
    const connected = await connectTemporal();
    await connected.close();
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
async function checkPeople(dataDir: string): Promise<Found> {
  const file = storeFile(dataDir);
  if (file !== undefined && !existsSync(file)) return { state: 'open', message: 'nobody is known yet' };
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  try {
    const unjoined = await listUnjoined(store);
    if (unjoined.length === 0) return { state: 'good', message: 'every hire is linked to its person' };
    const named = unjoined
      .slice(0, MOST_NAMED)
      .map(({ tenantId, jobCandidateId, why }) => `job candidate ${jobCandidateId} of ${tenantId} (${UNJOINED[why]})`);
    const more = unjoined.length > named.length ? `, and ${unjoined.length - named.length} more` : '';
    const isWrong = unjoined.some(({ why }) => why !== 'candidate-unknown');
    const message = `${unjoined.length} hires are not linked to a person: ${named.join('; ')}${more}`;
    return { state: isWrong ? 'wrong' : 'open', message };
  } finally {
    await store.close();
  }
}

/** Checks which processes should run for the applied tenants; none should before the first start. */
async function checkProcesses({ dataDir, tenantsDir }: Places): Promise<Found> {
  const file = storeFile(dataDir);
  if (file !== undefined && !existsSync(file)) return { state: 'open', message: 'nothing was started yet' };
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  try {
    const known = await currentTenants(store, tenantsDir);
    const roles = await readProcesses(store, await readClock(store), known);
    const state = roles.some(isMissing) ? 'wrong' : 'good';
    return { state, message: roles.map((role) => describeRole(role, spanOf)).join(' ') };
  } finally {
    await store.close();
  }
}

function spanOf(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

/** Opening would create the tables, so a store that does not exist yet is left alone. */
async function checkStore(dataDir: string, evidence: Evidence[]): Promise<Found> {
  const file = storeFile(dataDir);
  if (file !== undefined && !existsSync(file)) return { state: 'open', message: `${file} is not there yet` };
  const store = await openStore(storeUrl(dataDir), { migrate: 'never' });
  evidence.push(...(await listEvidence(store)));
  await store.close();
  return { state: 'good', message: `${store.kind}, installation ${store.installationId}` };
}

export interface AssumptionRow {
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
export function assumptionRows(tenants: readonly Tenant[], evidence: readonly Evidence[]): AssumptionRow[] {
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
export function isOpen({ evidence, setBy }: AssumptionRow): boolean {
  return evidence === 'contradicted' || evidence === 'not seen yet' || Object.keys(setBy).length > 0;
}
