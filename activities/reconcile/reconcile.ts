import type { Reconciled } from '../../src/hire/reconcile-activities.ts';
import { clearHints } from '../../src/store/hints.ts';
import { endReconcile } from '../../src/store/reconciles.ts';
import { countSeen } from '../../src/store/seen-people.ts';
import { recordReconcile } from '../../src/store/tenant-states.ts';
import type { ActivityDeps } from '../deps.ts';
import { watchFields } from '../fields/watch-fields.ts';
import { guarded } from '../guarded.ts';
import { askAboutOthers, goLive, listJobs, listOwnEnrolments, recordHired } from './baseline.ts';
import { markJobs, noteAbsent, proveFilter, readLeavers } from './compare.ts';
import { listPeople } from './list-people.ts';
import { openLost } from './lost-hires.ts';
import { openRun } from './open-run.ts';
import { goesOn, nextStep, type Run, type StepName, saveRun, startOf } from './run.ts';
import { lookAtOnboardings, signalOpenHires, signalUnfollowed } from './signal-hires.ts';
import { signalOutOfScope } from './signal-out-of-scope.ts';

/** Does the next bit of a step and notes in `run.position` what comes then. True when the step is over. */
type Step = (run: Run) => Promise<boolean>;

const steps: Record<Exclude<StepName, 'end'>, Step> = {
  jobs: listJobs,
  traces: listOwnEnrolments,
  people: listPeople,
  record: recordHired,
  ask: askAboutOthers,
  absent: noteAbsent,
  mark: markJobs,
  golive: goLive,
  proof: proveFilter,
  leavers: readLeavers,
  onboardings: lookAtOnboardings,
  'open-hires': signalOpenHires,
  unfollowed: signalUnfollowed,
  lost: openLost,
};

/** One attempt does so much. */
const MOST_BITS = 100;
const MOST_MS = 30_000;

/**
 * Compares the partner with `hires` and hints what differs. Decides nothing: each hinted hire reads again. The jobs
 * list comes first and doubles as the known-good read, so that nothing starts under another company's key. What is
 * done is kept in the store page by page: an attempt goes on where the one before it was, and gives its slot back
 * with RECONCILE_GOES_ON when it has done its share.
 */
export function reconcile(deps: ActivityDeps, { tenantId }: { tenantId: string }): Promise<Reconciled> {
  return guarded(deps, tenantId, async (connection) => {
    const until = performance.now() + MOST_MS;
    const run = await openRun(deps, connection);
    for (let bits = 0; run.position.step !== 'end'; bits += 1) {
      if (bits >= MOST_BITS || performance.now() > until) {
        await saveRun(run, true);
        throw goesOn(tenantId);
      }
      const { step } = run.position;
      if (await steps[step](run)) run.position = startOf(nextStep(run.kind, step));
      await saveRun(run);
    }
    return finish(run);
  });
}

async function finish(run: Run): Promise<Reconciled> {
  const { deps, connection, tenantId, holder, kind, plan } = run;
  const { store, log } = deps;
  await signalOutOfScope(run);
  await watchFields(deps, connection);
  const seen = await countSeen(store, tenantId);
  const people = kind === 'baseline' ? seen.hired + seen.rejected : seen.hired;
  const counts = { ...run.counts, people, unreadable: run.counts.unreadable + seen.unreadable };
  await clearHints(store, tenantId, 'people', plan.hints);
  const reconciledAt = await recordReconcile(store, tenantId, kind !== 'changed');
  deps.lastReconcile.note(tenantId, reconciledAt);
  if (run.isSaved) await endReconcile(store, tenantId, holder);
  log.info({ tenantId, kind, full: kind !== 'changed', ...counts }, 'tenant reconciled');
  return { ...counts, reconciledAt };
}
