import type { HireState, HireStep } from './hire.ts';
/**
 * Why something should be read again. A hint decides what is read first, never what is true. `adopt`: a person asks for
 * a hire that rests, see HireInput.
 */
export type HintAbout = 'person' | 'onboarding' | 'answer' | 'credits' | 'adopt';

/**
 * The code of an error that ends a run: the store does not know the hire as its workflow does, because it was restored
 * from a backup. The hire begins anew from what the store and both sides show.
 */
export const HIRE_BEHIND = 'HIRE_BEHIND';

/** How long a stalled worker goes unnoticed; configurable, so that tests need not wait. Milliseconds. */
export interface HireTiming {
  heartbeatMs: number;
  attemptMs: number;
  retryMs: number;
}

export interface HireInput {
  tenantId: string;
  jobCandidateId: string;
  timing: HireTiming;
  /** A person asks for this hire although it was recorded as before go-live or ended by an answer. */
  adopt?: boolean;
  /** The reconcile found that the person of a finished hire is gone. */
  watch?: boolean;
  /** The period that the run before this one followed: the store knew less of it, because a backup was restored. */
  behind?: number;
  /** State of the previous run, when this run continues it. */
  carried?: HireProgress;
}

/** What the workflow needs of the tenant's policies; durations in milliseconds. */
export interface HirePolicy {
  skipOnboarding: boolean;
  onboardingDeadlineMs: number;
  cancelGraceMs: number;
}

/** The hold a hire waits in, and the step that opened it. */
interface CurrentHold {
  holdId: string;
  code: string;
  from: HireStep;
}

/** Everything a hire carries from one run into the next: ids and verdicts only. */
export interface HireProgress {
  period: number;
  step: HireStep;
  policy: HirePolicy;
  /** End of the wait for onboarding, workflow time. */
  deadlineAt?: number;
  /** How long to wait for credits before the next try. */
  creditsWaitMs?: number;
  /** How often in a row the write-back was not shown. */
  verifyTries?: number;
  hold?: CurrentHold;
  /** Heard and not yet acted upon when the run before ended. */
  hints?: HintAbout[];
  /** What the hire ended as, where that is not `done`. */
  outcome?: HireState;
}

export interface HireResult {
  state: HireState | 'not-hired';
  period: number;
}
