import { type ConnectorError, rejected, unless } from '../errors.ts';
import type { HireState, Observed } from '../hire/hire.ts';
import { nearest } from '../in-words.ts';
import {
  type AppliedTenant,
  appliedNames,
  findAppliedTenant,
  isApplied,
  listAppliedTenants,
  pauseByPerson,
  removeTenant,
  resumeByPerson,
  type TenantAct,
} from '../store/applied-tenants.ts';
import { audit } from '../store/audit.ts';
import { readBoundToHris } from '../store/change-hris.ts';
import { freeze, observes, thaw } from '../store/freezes.ts';
import { countHires } from '../store/hires.ts';
import { countHoldsLeft } from '../store/holds.ts';
import { hasWriteUnderWay } from '../store/intents.ts';
import { listAudit } from '../store/listings.ts';
import { listObserved, requestStarts } from '../store/observed-hires.ts';
import type { Store, StoreTables } from '../store/open-store.ts';
import type { AuditRow } from '../store/schema.ts';
import {
  confirmCompany as confirm,
  findTenantState,
  listTenantStates,
  PAUSED_BY_PERSON,
  readTenantState,
} from '../store/tenant-states.ts';
import type { Tenant } from '../tenants/schema.ts';

export interface TenantDetails extends TenantView {
  mode: 'live' | 'observe';
  /** People hired while the tenant only observed, and not started yet. */
  observed: ObservedHire[];
  /** Path -> text, as applied. */
  files: Readonly<Record<string, string>>;
  /** Latest first. */
  audit: { at: string; by: string; act: AuditRow['act']; details: string | null }[];
}

/** What a removed tenant leaves behind in store and HRIS. */
export interface Remains {
  /** False while a worker is still ending its schedules and workflows. */
  ended: boolean;
  hires: Partial<Record<HireState, number>>;
  openHolds: number;
  writeUnderWay: boolean;
  /** Hires that sent a request for an employee: nothing checks its outcome any more. */
  unsettled: number;
}

const SHOWN_ACTS = 20;

/** Every tenant that was ever applied. */
export async function listTenants(store: Store): Promise<TenantView[]> {
  return (await listAppliedTenants(store)).map(viewOf);
}

/** @throws ConnectorError TENANT_UNKNOWN */
export async function showTenant(store: Store, tenantId: string): Promise<TenantDetails> {
  const applied = await findApplied(store, tenantId);
  const audit = await listAudit(store, { tenantIds: [tenantId], limit: SHOWN_ACTS });
  return {
    ...viewOf(applied),
    mode: applied.receives.mode ?? 'live',
    observed: await listObservedHires(store, tenantId),
    files: applied.files,
    audit: audit.map(({ at, by, act, details }) => ({ at: new Date(Number(at)).toISOString(), by, act, details })),
  };
}

/** @throws ConnectorError TENANT_UNKNOWN */
export async function readRemains(store: Store, tenantId: string): Promise<Remains> {
  const { endedAt } = await findApplied(store, tenantId);
  const [hires, openHolds, writeUnderWay, { unsettled }] = await Promise.all([
    countHires(store),
    countHoldsLeft(store, tenantId),
    hasWriteUnderWay(store, tenantId),
    readBoundToHris(store, tenantId),
  ]);
  const own = hires.filter((one) => one.tenantId === tenantId).map(({ state, count }) => [state, count] as const);
  return { ended: endedAt !== null, hires: Object.fromEntries(own), openHolds, writeUnderWay, unsettled };
}

/** @throws ConnectorError TENANT_UNKNOWN */
async function findApplied(store: Store, tenantId: string): Promise<AppliedTenant> {
  const applied = await findAppliedTenant(store, tenantId);
  if (applied !== undefined) return applied;
  throw await tenantNotApplied(store, tenantId);
}

export async function tenantNotApplied(store: StoreTables, tenantId: string): Promise<ConnectorError> {
  const near = nearest(tenantId, await appliedNames(store));
  const next = near === undefined ? 'Those that are: hirebridge tenant list' : `Did you mean "${near}"?`;
  return rejected('TENANT_UNKNOWN', `No tenant "${tenantId}" was ever applied. ${next}`);
}

type TenantView = ReturnType<typeof viewOf>;

function viewOf({ tenantId, state, version, appliedAt, appliedBy }: AppliedTenant) {
  return { tenantId, state, version, appliedAt: new Date(appliedAt).toISOString(), appliedBy };
}

/** The tenant as applied. @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID */
export async function readAppliedTenant(store: Store, tenantId: string): Promise<Tenant> {
  // Reading a file loads schemas, mappings and HR systems, which most tenant commands do not need.
  const { parseTenant } = await import('../tenants/load-tenants.ts');
  return parseTenant(await findApplied(store, tenantId));
}

export type Verb = 'pause' | 'resume' | 'remove';

const acts: Record<Verb, (store: Store, act: TenantAct) => Promise<boolean>> = {
  pause: pauseByPerson,
  resume: resumeByPerson,
  remove: removeTenant,
};

/** Pauses, resumes or removes a tenant; workers and receivers notice it. @throws ConnectorError */
export async function steerTenant(store: Store, verb: Verb, act: TenantAct): Promise<void> {
  if (!(await isApplied(store, act.tenantId))) throw await tenantNotApplied(store, act.tenantId);
  if (await acts[verb](store, act)) return;
  throw await whyNot(store, verb, act.tenantId);
}

async function whyNot(store: Store, verb: Verb, tenantId: string): Promise<ConnectorError> {
  const { state, paused_code: code } = await readTenantState(store, tenantId);
  const byItself = state === 'paused' && code !== PAUSED_BY_PERSON;
  const message = byItself
    ? `Tenant ${tenantId} was paused by ${code ?? 'an error'}, and resumes by itself once the cause is fixed.`
    : `Tenant ${tenantId} is ${state}.`;
  return rejected('TENANT_STATE', `${message} There is nothing to ${verb}. See: hirebridge status`);
}

interface FreezeAct {
  /** Absent for the whole fleet. */
  tenantId?: string | undefined;
  by: string;
}

/** Stops all writes to partner and HR system; reads and webhooks continue. False if they were stopped already. */
export async function freezeWrites(store: StoreTables, { tenantId, by }: FreezeAct): Promise<boolean> {
  // If another process locks the table, freeze unchecked: a freeze of an unknown tenant is better than none.
  await assertApplied(store, tenantId).catch(unless('DATABASE_LOCKED'));
  return freeze(store, by, tenantId);
}

/** Allows the writes again. False if they were not stopped. */
export async function thawWrites(store: Store, { tenantId, by }: FreezeAct): Promise<boolean> {
  await assertApplied(store, tenantId);
  return thaw(store, by, tenantId);
}

async function assertApplied(store: StoreTables, tenantId: string | undefined): Promise<void> {
  if (tenantId === undefined || (await isApplied(store, tenantId))) return;
  throw await tenantNotApplied(store, tenantId);
}

/** Confirms that a tenant paused for COMPANY_MISMATCH has the right company's key; the worker resumes the tenant. */
export async function confirmCompany(
  store: Store,
  { tenantId, by }: { tenantId: string; by: string },
): Promise<{ confirmedAt: number; by: string }> {
  const confirmed = await confirm(store, tenantId, by);
  const { paused_code: pausedCode, company_confirmed_at: confirmedAt } = await readTenantState(store, tenantId);
  if (confirmed) {
    await audit(store, { by, tenantId, act: 'company-confirmed' });
    return { confirmedAt: Number(confirmedAt), by };
  }
  throw rejected(
    'NOTHING_TO_CONFIRM',
    `Tenant ${tenantId} is ${pausedCode === null ? 'not paused' : `paused for ${pausedCode}`}: a company can be ` +
      'confirmed only while its tenant is paused for COMPANY_MISMATCH. See: hirebridge status',
  );
}

/** A person hired while the tenant only observed, and what their hire would have done. */
export type ObservedHire = Awaited<ReturnType<typeof listObservedHires>>[number];

/** Those first seen at or after `since` (ms) and not started yet, oldest first. */
export async function listObservedHires(store: Store, tenantId: string, since = 0) {
  return (await listObserved(store, tenantId, since)).map((row) => ({
    jobCandidateId: row.job_candidate_id,
    jobId: row.job_id,
    /** UTC. The partner shows no date of a hire, so this is when it was first seen. */
    firstSeenAt: new Date(Number(row.opened_at)).toISOString(),
    observed: JSON.parse(row.observed ?? '{}') as Observed,
  }));
}

/** Requests starts; each hire is read again first, so that a person who left since costs nothing. */
export async function startObservedHires(store: Store, act: TenantAct, hires: readonly ObservedHire[]): Promise<void> {
  const ids = hires.map(({ jobCandidateId }) => jobCandidateId);
  if (ids.length > 0) await requestStarts(store, act, ids);
}

/** @throws ConnectorError TENANT_UNKNOWN, TENANT_OBSERVES */
export async function assertLive(store: Store, tenantId: string): Promise<void> {
  if (!(await isApplied(store, tenantId))) throw await tenantNotApplied(store, tenantId);
  await assertWrites(store, tenantId);
}

/** @throws ConnectorError TENANT_REMOVED */
export async function assertNotRemoved(store: Store, tenantId: string): Promise<void> {
  if ((await findTenantState(store, tenantId))?.state !== 'removed') return;
  throw rejected(
    'TENANT_REMOVED',
    `Tenant ${tenantId} was removed, so nothing is written for it. To take it back, apply its file again.`,
  );
}

/** @throws ConnectorError TENANT_OBSERVES, TENANT_REMOVED */
export async function assertWrites(store: Store, tenantId: string): Promise<void> {
  const state = await readTenantState(store, tenantId);
  await assertNotRemoved(store, tenantId);
  if (!observes(state)) return;
  throw rejected(
    'TENANT_OBSERVES',
    `Tenant ${tenantId} only observes, so nothing is written for it. Set "mode: live" in its file, run ` +
      'hirebridge tenant apply, then try again.',
  );
}

/** @throws ConnectorError TENANT_UNKNOWN */
export function knownTenant<T extends { tenantId: string }>(tenants: readonly T[], tenantId: string): T {
  const own = tenants.find((one) => one.tenantId === tenantId);
  if (own !== undefined) return own;
  const known = tenants.map((one) => one.tenantId);
  throw unknownTenant(tenantId, known, 'No tenant file names', 'the directory in --tenants');
}

/** A tenant of the folder; its secrets are not resolved. @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID */
export async function readOwnTenant(dir: string, tenantId: string): Promise<Tenant> {
  const { loadTenants } = await import('../tenants/load-tenants.ts');
  const tenants = await loadTenants(dir, { secrets: 'skip' });
  return knownTenant(
    tenants.map((one) => ({ ...one, tenantId: one.tenant })),
    tenantId,
  );
}

/**
 * Rejects an unknown tenant, because its empty lists would look like "nothing is wrong". A store that never had a
 * tenant rejects none.
 * @throws ConnectorError TENANT_UNKNOWN
 */
export async function assertTenantInStore(store: Store, tenantId: string): Promise<void> {
  const known = (await listTenantStates(store)).map((row) => row.tenant_id);
  if (known.length === 0 || known.includes(tenantId)) return;
  throw unknownTenant(tenantId, known, 'The store knows no tenant', 'the data directory in --data');
}

const MOST_NAMED = 10;

function unknownTenant(tenantId: string, known: readonly string[], text: string, place: string): ConnectorError {
  const near = nearest(tenantId, known);
  const named = known.toSorted().slice(0, MOST_NAMED).join(', ');
  const more = known.length > MOST_NAMED ? `, and ${known.length - MOST_NAMED} more` : '';
  const next = near === undefined ? `Check the name, or ${place}.` : `Did you mean "${near}"?`;
  return rejected('TENANT_UNKNOWN', `${text} "${tenantId}" (known: ${named}${more}). ${next}`);
}
