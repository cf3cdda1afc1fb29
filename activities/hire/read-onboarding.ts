import { isConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { held } from '../../src/hire/holds.ts';
import { judgeOnboarding } from '../../src/plan/judge-onboarding.ts';
import { hireBehind, updateHire } from '../../src/store/hires.ts';
import { closeUnanswered } from '../../src/store/holds.ts';
import { assertKnownCompany } from '../assert-known-company.ts';
import type { ActivityDeps } from '../deps.ts';
import { noteUnknownValue } from '../note-unknown-value.ts';
import { findEnrolments } from './find-enrolment.ts';
import { heldOutsideScope } from './job-in-scope.ts';
import { type HireContext, withHireOrHeld } from './with-hire.ts';

type Verdict = Awaited<ReturnType<HireActivities['readOnboarding']>>;

/**
 * Where the onboarding stands now. The states of the steps do not matter: the partner sums them up in overallStatus.
 */
export async function readOnboarding(
  deps: ActivityDeps,
  given: Parameters<HireActivities['readOnboarding']>[0],
): Promise<Verdict> {
  const onboarding = await readNow(deps, given);
  if (given.asked !== true || onboarding.verdict !== 'ready') return onboarding;
  // Whoever answered meanwhile is heard first.
  return (await closeUnanswered(deps.store, given)) ? onboarding : { verdict: 'waiting' };
}

function readNow(deps: ActivityDeps, given: HireRef): Promise<Verdict> {
  return withHireOrHeld(deps, given, async (hire): Promise<Verdict> => {
    const { store, connection, ref, row, decisions } = hire;
    // An earlier attempt went on to the end and was lost.
    if (row.state === 'done') return { verdict: 'ready' } as const;
    const { partner } = connection;
    const outside = await heldOutsideScope(hire, row.job_id);
    if (outside !== undefined) return outside;
    if (decisions.createAnyway || decisions.skipOnboarding) return { verdict: 'ready' } as const;
    const id = row.onboarding_candidate_id;
    if (id === null) throw hireBehind(ref);
    try {
      const { data } = await partner.onboarding.getCandidate(
        { params: { onboardingCandidateId: id } },
        { priority: 'live' },
      );
      const status = String(data.overallStatus);
      if (status !== row.onboarding_status) await updateHire(store, ref, { onboarding_status: status }, row);
      return judgeStatus(hire, status);
    } catch (error) {
      if (!isConnectorError(error, 'NOT_FOUND')) throw error;
      // One 404 proves nothing: the list is asked, and something that is known to be there with the same key.
      const [hit] = await findEnrolments(connection, row.onboarding_reference ?? '');
      if (hit !== undefined) return judgeStatus(hire, hit.status);
      await assertKnownCompany(store, connection);
      return held('ENROLMENT_GONE', { jobCandidateId: ref.jobCandidateId, onboardingCandidateId: id });
    }
  });
}

/** A status that the specification does not name is waited out, and told once for all hires. */
async function judgeStatus({ store, connection, ref }: HireContext, status: string): Promise<Verdict> {
  const judged = judgeOnboarding(ref.jobCandidateId, status, connection.tenant.policies.onboarding);
  if (judged.verdict !== 'unknown') return judged;
  await noteUnknownValue(store, connection, {
    field: 'overallStatus',
    value: status,
    goesOn: 'Hires wait with it; if it means ready, add it to policies.onboarding.readyAt.',
  });
  return { verdict: 'waiting' };
}
