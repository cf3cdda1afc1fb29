import { isConnectorError } from '../../src/errors.ts';
import type { OverallStatus } from '../../src/partner/contract/onboarding-candidate.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import type { HireRef } from '../../workflows/messages.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';
import { findEnrolments } from './find-enrolment.ts';
import type { Held, HireActivities, HoldRequest } from './hire-activities.ts';
import { readDecisions } from './read-decisions.ts';

/** What each of the nine states means for a hire, unless the tenant's `readyAt` names it. */
const outcomes: Record<OverallStatus, 'waiting' | 'hold'> = {
  not_started: 'waiting',
  in_progress: 'waiting',
  partial_submission: 'waiting',
  under_review: 'waiting',
  final_handoff: 'waiting',
  completed: 'waiting',
  rejected: 'hold',
  failed: 'hold',
  terminated: 'hold',
};

const answers = ['re-enrol', 'create-anyway', 'cancel'];

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
      return held(ref, 'ENROLMENT_GONE', `Enrolment ${id} is not shown any more.`);
    }
  });
}

function judge(
  ref: HireRef,
  status: string,
  policy: 'skip' | { readyAt: readonly string[] },
): { verdict: 'ready' } | { verdict: 'waiting' } | Held {
  if (policy === 'skip' || policy.readyAt.includes(status)) return { verdict: 'ready' };
  const outcome = (outcomes as Record<string, 'waiting' | 'hold'>)[status];
  if (outcome === 'waiting') return { verdict: 'waiting' };
  if (outcome === undefined)
    return held(
      ref,
      'ONBOARDING_STATUS_UNKNOWN',
      `The onboarding of job candidate ${ref.jobCandidateId} shows a state that is not known.`,
    );
  return held(
    ref,
    `ONBOARDING_${status.toUpperCase()}`,
    `The onboarding of job candidate ${ref.jobCandidateId} is ${status}.`,
  );
}

/** The tenant's deadline for onboarding passed. */
export async function describeDeadline(ref: HireRef): Promise<HoldRequest> {
  return held(
    ref,
    'ONBOARDING_DEADLINE',
    `The onboarding of job candidate ${ref.jobCandidateId} was not ready before the tenant's deadline.`,
    ['retry', ...answers],
  ).hold;
}

function held(_ref: HireRef, code: string, what: string, accepted: string[] = answers): Held {
  const message = `${what} Answer re-enrol (one more credit), create-anyway (the employee is made all the same), or cancel.`;
  return { verdict: 'hold', hold: { code, message, answers: accepted } };
}
