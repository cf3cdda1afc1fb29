import type { ReconcileCounts } from '../../src/hire/reconcile-activities.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { hiresInState } from '../../src/store/hires.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { waitingForOnboarding } from './decisions.ts';

/** One reconcile under way; its steps count what they see and do. */
export interface Reconcile {
  deps: ActivityDeps;
  connection: Connection;
  tenantId: string;
  counts: ReconcileCounts;
}

/** The only poll of onboarding: one list for all hires that wait, whatever their number. */
export async function signalMovedOnboardings({ deps, connection, tenantId, counts }: Reconcile): Promise<void> {
  const waiting = waitingForOnboarding(await hiresInState(deps.store, tenantId, 'open'));
  if (waiting.size === 0) return;
  const pages = connection.partner.pages(contract.onboarding.listCandidates, {}, { priority: 'bulk' });
  for await (const { items, unreadable } of pages) {
    counts.unreadable += unreadable.length;
    for (const item of items) {
      const hire = waiting.get(item.onboardingCandidateId);
      if (hire === undefined || hire.onboarding_status === String(item.overallStatus)) continue;
      await deps.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'onboarding', { start: true });
      counts.hinted += 1;
    }
  }
}

/** Once a day every open hire is reached, and started anew where its workflow is gone. */
export async function signalOpenHires({ deps, tenantId, counts }: Reconcile): Promise<void> {
  for (const hire of await hiresInState(deps.store, tenantId, 'open')) {
    await deps.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'answer', { start: true });
    counts.hinted += 1;
  }
}
