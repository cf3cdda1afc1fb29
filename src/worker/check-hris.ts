import type { ActivityDeps } from '../../activities/deps.ts';
import { isConnectorError } from '../errors.ts';
import { hrisHold } from '../hire/holds.ts';
import { closeTenantHoldsLike, openHold } from '../store/holds.ts';

const PROBE_MS = 10_000;

/**
 * Checks that the tenant's HRIS answers and fits. Trouble is one hold of the tenant, which closes by itself: hires go
 * on as far as they can without the HRIS, and nobody has to search a log for the reason.
 */
export async function checkHris({ store, connections, log }: ActivityDeps, tenantId: string): Promise<void> {
  const trouble = await probe(connections, tenantId);
  if (trouble === undefined) return closeTenantHoldsLike(store, tenantId, 'HRIS_%');
  const hold = hrisHold(trouble);
  const { fresh } = await openHold(store, { tenantId, ...hold });
  if (fresh) log.error({ tenantId, code: hold.code, reason: trouble.message }, 'HR system does not work');
}

async function probe(connections: ActivityDeps['connections'], tenantId: string) {
  try {
    const { hris } = await connections.of(tenantId);
    const result = await hris.probe(AbortSignal.timeout(PROBE_MS));
    return result.ok ? undefined : result.error;
  } catch (error) {
    // Trouble on the partner's side pauses the tenant, which says why.
    return isConnectorError(error) && error.code.startsWith('HRIS_') ? error : undefined;
  }
}
