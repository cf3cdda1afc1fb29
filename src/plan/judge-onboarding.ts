import { type Held, held } from '../hire/holds.ts';

type Outcome = 'waiting' | 'ONBOARDING_REJECTED' | 'ONBOARDING_FAILED' | 'ONBOARDING_TERMINATED';

/** What each overall status means for a hire, unless the tenant's `readyAt` names it. */
const outcomes: Readonly<Record<string, Outcome>> = {
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

/** `unknown`: no verdict at all. */
export type OnboardingVerdict = { verdict: 'ready' } | { verdict: 'waiting' } | { verdict: 'unknown' } | Held;

export function judgeOnboarding(
  jobCandidateId: string,
  status: string,
  policy: 'skip' | { readyAt: readonly string[] },
): OnboardingVerdict {
  if (policy === 'skip' || policy.readyAt.includes(status)) return { verdict: 'ready' };
  const outcome = Object.hasOwn(outcomes, status) ? outcomes[status] : undefined;
  if (outcome === 'waiting') return { verdict: 'waiting' };
  return outcome === undefined ? { verdict: 'unknown' } : held(outcome, { jobCandidateId, status });
}
