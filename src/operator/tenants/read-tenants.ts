import { ConnectorError } from '../../errors.ts';
import type { HireState } from '../../hire/hire-state.ts';
import { type AppliedTenant, listAppliedTenants } from '../../store/applied-tenants.ts';
import { readAudit } from '../../store/audit.ts';
import { readBoundToHris } from '../../store/change-hris.ts';
import { countHires } from '../../store/hires.ts';
import { listHolds } from '../../store/holds.ts';
import { hasWriteUnderWay } from '../../store/intents.ts';
import type { Store } from '../../store/open-store.ts';
import type { AuditRow } from '../../store/schema.ts';
import { listObservedHires, type ObservedHire } from './observed-hires.ts';

export interface TenantView {
  tenantId: string;
  state: AppliedTenant['state'];
  version: number;
  appliedAt: string;
  appliedBy: string;
}

export interface TenantDetails extends TenantView {
  mode: 'live' | 'observe';
  /** Hired while it only observed, and not started yet. */
  observed: ObservedHire[];
  /** Path -> text, as applied. */
  files: Readonly<Record<string, string>>;
  /** Latest first. */
  audit: { at: string; by: string; act: AuditRow['act']; details: string | null }[];
}

/** What a removed tenant leaves in store and HRIS. */
export interface Remains {
  /** False while a worker still ends its schedules and workflows. */
  ended: boolean;
  hires: Partial<Record<HireState, number>>;
  openHolds: number;
  writeUnderWay: boolean;
  /** Hires whose request for an employee has left: nobody looks what becomes of it. */
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
  const audit = await readAudit(store, tenantId, SHOWN_ACTS);
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
  const [hires, holds, writeUnderWay, { unsettled }] = await Promise.all([
    countHires(store),
    listHolds(store, { tenantId }),
    hasWriteUnderWay(store, tenantId),
    readBoundToHris(store, tenantId),
  ]);
  const own = hires.filter((one) => one.tenantId === tenantId).map(({ state, count }) => [state, count] as const);
  return { ended: endedAt !== null, hires: Object.fromEntries(own), openHolds: holds.length, writeUnderWay, unsettled };
}

/** @throws ConnectorError TENANT_UNKNOWN */
export async function findApplied(store: Store, tenantId: string): Promise<AppliedTenant> {
  const applied = (await listAppliedTenants(store)).find((one) => one.tenantId === tenantId);
  if (applied !== undefined) return applied;
  throw tenantNotApplied(tenantId);
}

export function tenantNotApplied(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message: `No tenant "${tenantId}" was ever applied. Those that are: hirebridge tenant list`,
  });
}

function viewOf({ tenantId, state, version, appliedAt, appliedBy }: AppliedTenant): TenantView {
  return { tenantId, state, version, appliedAt: new Date(appliedAt).toISOString(), appliedBy };
}
