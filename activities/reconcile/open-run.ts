import { randomUUID } from 'node:crypto';
import type { ReconcileCounts } from '../../src/hire/reconcile-activities.ts';
import { readHints } from '../../src/store/hints.ts';
import type { ReconcileKind } from '../../src/store/reconcile-tables.ts';
import { endReconcile, takeReconcile } from '../../src/store/reconciles.ts';
import { compareAllAnew, readClock, readTenantState, startBaseline } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { goesOnFrom, jobsToList, type ReconcileScope, scopeOf } from './decisions.ts';
import { refreshJobs } from './refresh-jobs.ts';
import { firstStep, type Plan, type Position, type Run, saveRun, startOf } from './run.ts';

/**
 * The tenant's reconcile where it was interrupted, or a new one. A store that knows only of earlier ones than the last
 * was restored from a backup.
 */
export async function openRun(deps: ActivityDeps, connection: Connection): Promise<Run> {
  const { store, log } = deps;
  const tenantId = connection.tenant.tenant;
  const state = await readTenantState(store, tenantId);
  const isRestored = Number(state.reconciled_at ?? 0) < (await deps.lastReconcile.read(tenantId));
  if (isRestored) {
    log.error({ tenantId }, 'the store was restored: everything is compared anew');
    await compareAllAnew(store);
  }
  const known = isRestored ? await readTenantState(store, tenantId) : state;
  const scope = scopeOf(known, await readClock(store));
  const common = { deps, connection, tenantId, holder: randomUUID(), isPlanChanged: false, pageBefore: '' };
  const saved = await takeReconcile<Plan, Position, ReconcileCounts>(store, tenantId, common.holder);
  const position = saved && goesOnFrom(saved, scope);
  if (saved !== undefined && position !== undefined) return { ...common, ...saved, position, isSaved: true };
  if (saved !== undefined) await endReconcile(store, tenantId, common.holder);
  const kind = kindOf(scope);
  const run: Run = { ...common, ...(await begin(deps, connection, kind)), isSaved: false };
  await saveRun(run, kind !== 'changed' || run.plan.jobs.length > 0);
  return run;
}

function kindOf({ isFirst, isRestored, isFull }: ReconcileScope): ReconcileKind {
  if (isFirst) return 'baseline';
  if (isRestored) return 'restored';
  return isFull ? 'full' : 'changed';
}

async function begin(
  { store }: ActivityDeps,
  connection: Connection,
  kind: ReconcileKind,
): Promise<Pick<Run, 'kind' | 'plan' | 'position' | 'counts'>> {
  const tenantId = connection.tenant.tenant;
  const hints = await readHints(store, tenantId, 'people');
  const none = { jobsListed: 0, people: 0, started: 0, hinted: 0, unreadable: 0 };
  const position = startOf(firstStep(kind));
  if (kind === 'baseline') {
    await startBaseline(store, tenantId);
    return { kind, plan: { jobs: [], isWide: false, broken: [], hints }, position, counts: { jobs: 0, ...none } };
  }
  const { jobs: all, unreadable } = await refreshJobs(store, connection);
  const listed = jobsToList(all, kind !== 'changed', new Set(hints.map((hint) => hint.recordId)));
  const jobs = listed.map(({ jobId, totals }) => ({ jobId, totals }));
  const counts = { ...none, jobs: all.length, jobsListed: jobs.length, unreadable: unreadable.length };
  return { kind, plan: { jobs, isWide: kind !== 'changed' && jobs.length > 1, broken: [], hints }, position, counts };
}
