import { isConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, type HoldRequest, held, holdOf } from '../../src/hire/holds.ts';
import type { OverallStatus } from '../../src/partner/contract/onboarding-candidate.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';
import { findEnrolments } from './find-enrolment.ts';
import { readDecisions } from './read-decisions.ts';

type Outcome = 'waiting' | 'ONBOARDING_REJECTED' | 'ONBOARDING_FAILED' | 'ONBOARDING_TERMINATED';

/** What each of the nine states means for a hire, unless the tenant's `readyAt` names it. */
const outcomes: Record<OverallStatus, Outcome> = {
  not_started: 'waiting',
  in_progress: 'waiting',
  partial_submission: 'waiting',
  under_review: 'waiting',
  final_handoff: 'waiting',
  completed: 'waiting',
  rejected: 'ONBOARDING_REJECTED',
  failed: 'ONBOARDING_FAILED',
  terminated: 'ONBOARDING_TERMINATED',
};

/** Where the onboarding stands now. The states of the steps do not matter: the partner sums them up in overallStatus. */
export function readOnboarding(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['readOnboarding']> {
  return guardedOrHeld(deps, ref.tenantId, async (connection) => {
    const { store } = deps;
    const { partner, tenant } = connection;
    const decisions = await readDecisions(store, ref);
    if (decisions.createAnyway || decisions.skipOnboarding) return { verdict: 'ready' } as const;
    const row = await readHireRow(store, ref);
    const id = row.onboarding_candidate_id ?? '';
    try {
      const { data } = await partner.onboarding.getCandidate(
        { params: { onboardingCandidateId: id } },
        { priority: 'live' },
      );
      const status = String(data.overallStatus);
      if (status !== row.onboarding_status) await updateHire(store, ref, { onboarding_status: status });
      return judge(ref, status, tenant.policies.onboarding);
    } catch (error) {
      if (!isConnectorError(error, 'NOT_FOUND')) throw error;
      // One 404 proves nothing: the list is asked, and something that is known to be there with the same key.
      const [hit] = await findEnrolments(connection, row.onboarding_reference ?? '');
      if (hit !== undefined) return judge(ref, hit.status, tenant.policies.onboarding);
      await assertKnownCompany(store, connection);
      return held('ENROLMENT_GONE', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id });
    }
  });
}

function judge(
  ref: HireRef,
  status: string,
  policy: 'skip' | { readyAt: readonly string[] },
): { verdict: 'ready' } | { verdict: 'waiting' } | Held {
  if (policy === 'skip' || policy.readyAt.includes(status)) return { verdict: 'ready' };
  const outcome: Outcome | undefined = outcomes[status as OverallStatus];
  if (outcome === 'waiting') return { verdict: 'waiting' };
  return held(outcome ?? 'ONBOARDING_STATUS_UNKNOWN', { jobCandidateId: ref.jobCandidateId, status });
}

/** The tenant's deadline for onboarding passed. */
export async function describeDeadline({ jobCandidateId }: HireRef): Promise<HoldRequest> {
  return holdOf('ONBOARDING_DEADLINE', { jobCandidateId });
}
