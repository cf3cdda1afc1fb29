import type { ActivityDeps } from '../../activities/deps.ts';
import { pauseHris, resumeHris, sayRestart } from '../../activities/guarded.ts';
import { isConnectorError } from '../errors.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { Chore } from './run-chores.ts';

const PROBE_MS = 10_000;
/** A single answer that is late proves nothing, nor does a single good one after trouble. */
const BAD_IN_A_ROW = 2;
const GOOD_IN_A_ROW = 3;

/**
 * Checks that a tenant's HRIS answers and fits. Trouble is one hold of the tenant and stops its HRIS calls alone; it
 * begins and ends with several probes in a row, so that an HRIS that comes and goes does not flap. The first probe of a
 * start or of a changed definition decides by itself.
 */
export function createHrisCheck(deps: ActivityDeps): Chore {
  /** Probes of one kind in a row, by tenant; good ones above zero, bad ones below. */
  const rows = new Map<string, { inARow: number; configHash: string }>();
  const before = ({ tenant, configHash }: Tenant): number | undefined => {
    const known = rows.get(tenant);
    if (known?.configHash !== configHash) return undefined;
    // A call was refused since the last probe: what that one found no longer counts.
    return deps.pausedHris.has(tenant) ? Math.min(known.inARow, GOOD_IN_A_ROW - 1) : known.inARow;
  };
  return async (tenant, stop) => {
    const { tenant: tenantId, configHash } = tenant;
    const trouble = await probe(deps.connections, tenantId, stop);
    if (stop.aborted) return 'failed';
    const inARow = nextInARow(before(tenant), trouble === undefined);
    rows.set(tenantId, { inARow, configHash });
    if (inARow === GOOD_IN_A_ROW) await resumeHris(deps, tenantId);
    if (trouble !== undefined && inARow <= -BAD_IN_A_ROW) await pauseHris(deps, tenantId, sayRestart(trouble, tenant));
    if (trouble !== undefined) return 'failed';
    return inARow >= GOOD_IN_A_ROW ? 'done' : 'soon';
  };
}

function nextInARow(before: number | undefined, isGood: boolean): number {
  if (isGood) return before === undefined ? GOOD_IN_A_ROW : Math.max(0, before) + 1;
  return before === undefined ? -BAD_IN_A_ROW : Math.min(0, before) - 1;
}

async function probe(connections: ActivityDeps['connections'], tenantId: string, stop: AbortSignal) {
  try {
    const { hris } = await connections.of(tenantId);
    const result = await hris.probe(AbortSignal.any([stop, AbortSignal.timeout(PROBE_MS)]));
    return result.ok ? undefined : result.error;
  } catch (error) {
    // Trouble on the partner's side pauses the tenant, which says why.
    return isConnectorError(error) && error.code.startsWith('HRIS_') ? error : undefined;
  }
}
