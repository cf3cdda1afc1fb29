import type { ActivityDeps } from '../../activities/deps.ts';
import { clearHints, readHints } from '../store/hints.ts';
import { STARTS } from '../store/observed-hires.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { ChoreResult } from './run-chores.ts';

/** Starts the hires of before go-live that a person asked for. Starting one twice is harmless. */
export async function startRequested(
  { store, signalHire, log }: Pick<ActivityDeps, 'store' | 'signalHire' | 'log'>,
  { tenant: tenantId }: Pick<Tenant, 'tenant'>,
  stop: AbortSignal,
): Promise<ChoreResult> {
  const requested = await readHints(store, tenantId, STARTS);
  for (const hint of requested) {
    if (stop.aborted) return 'failed';
    await signalHire({ tenantId, jobCandidateId: hint.recordId }, 'person', { start: true, adopt: true });
    await clearHints(store, tenantId, STARTS, [hint]);
  }
  if (requested.length > 0) log.info({ tenantId, count: requested.length }, 'requested hires started');
  return 'done';
}
