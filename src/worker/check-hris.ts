import type { ActivityDeps } from '../../activities/deps.ts';
import { pauseHris, resumeHris } from '../../activities/hris-side.ts';
import { isConnectorError } from '../errors.ts';
import type { Tenant } from '../tenants/schema.ts';

const PROBE_MS = 10_000;
/** A single answer that is late proves nothing, nor does a single good one after trouble. */
const BAD_IN_A_ROW = 2;
const GOOD_IN_A_ROW = 3;

/**
 * Checks that a tenant's HRIS answers and fits. Trouble is one hold of the tenant and stops its HRIS calls alone; it
 * begins and ends with several probes in a row, so that an HRIS that comes and goes does not flap.
 */
export function createHrisCheck(deps: ActivityDeps): (tenant: Tenant, stop: AbortSignal) => Promise<boolean> {
  /** Probes of one kind in a row, by tenant; good ones above zero, bad ones below. */
  const rows = new Map<string, number>();
  return async ({ tenant: tenantId }, stop) => {
    const trouble = await probe(deps.connections, tenantId, stop);
    if (stop.aborted) return false;
    const before = rows.get(tenantId);
    if (trouble === undefined) {
      const good = before === undefined ? GOOD_IN_A_ROW : Math.max(0, before) + 1;
      rows.set(tenantId, good);
      if (good === GOOD_IN_A_ROW) await resumeHris(deps, tenantId);
      // After trouble the next probes come soon.
      return good >= GOOD_IN_A_ROW;
    }
    const bad = before === undefined ? -BAD_IN_A_ROW : Math.min(0, before) - 1;
    rows.set(tenantId, bad);
    if (bad <= -BAD_IN_A_ROW) await pauseHris(deps, tenantId, trouble);
    return false;
  };
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
