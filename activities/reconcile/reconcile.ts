import type { ReconcileCounts } from '../../src/hire/reconcile-activities.ts';
import { clearHints, readHints } from '../../src/store/hints.ts';
import { readClock, readTenantState, recordReconcile, recordVerifiedKey } from '../../src/store/tenant-states.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';
import { recordBaseline } from './baseline.ts';
import { jobsToList, scopeOf } from './decisions.ts';
import { reconcileJob } from './reconcile-job.ts';
import { refreshJobs } from './refresh-jobs.ts';
import { signalMovedOnboardings, signalOpenHires } from './signal-hires.ts';

/**
 * Compares the partner with `hires` and hints what differs. Decides nothing: each hinted hire reads again. The jobs
 * list comes first and doubles as the known-good read, so that nothing starts under another company's key.
 */
export function reconcile(deps: ActivityDeps, { tenantId }: { tenantId: string }): Promise<ReconcileCounts> {
  const { store, log } = deps;
  return guarded(deps, tenantId, async (connection) => {
    const { isFirst, isFull } = scopeOf(await readTenantState(store, tenantId), await readClock(store));
    const hints = await readHints(store, tenantId, 'people');
    const listed = await refreshJobs(store, connection);
    await recordVerifiedKey(store, tenantId, connection.keyFingerprint);
    const unreadable = listed.unreadable.length;
    const counts = { jobs: listed.jobs.length, jobsListed: 0, people: 0, started: 0, hinted: 0, unreadable };
    const parts = { deps, connection, tenantId, counts };
    if (isFirst) await recordBaseline(deps, connection, listed, counts);
    else {
      const hinted = new Set(hints.map((hint) => hint.recordId));
      for (const job of jobsToList(listed.jobs, isFull, hinted)) await reconcileJob(parts, job);
    }
    await clearHints(store, tenantId, 'people', hints);
    await signalMovedOnboardings(parts);
    if (isFull || isFirst) await signalOpenHires(parts);
    await recordReconcile(store, tenantId, isFull || isFirst);
    log.info({ tenantId, full: isFull, ...counts }, 'tenant reconciled');
    return counts;
  });
}
