import type { HireState, HireStep } from './hire.ts';
/**
 * Why something should be read again. A hint decides what is read first, never what is true. `adopt`: a person asks for
 * a resting hire, see HireInput.
 */
export type HintAbout = 'person' | 'onboarding' | 'answer' | 'credits' | 'adopt';

/**
 * Signals a hire's workflow. With `start`, starts a workflow if none runs; without it, returns `false` if none runs.
 * `behind`: the period that the workflow follows, if the restored store knows an earlier one.
 */
export type SignalHire = (
  hire: { tenantId: string; jobCandidateId: string },
  about: HintAbout,
  options: { start: boolean; adopt?: boolean; watch?: boolean; behind?: number },
) => Promise<boolean>;

/**
 * Code of the error that ends a run because the store knows less of the hire than its workflow: it was restored from a
 * backup. The hire starts again from what the store and both sides show.
 */
export const HIRE_BEHIND = 'HIRE_BEHIND';

/** How long a stalled worker may go unnoticed, in ms; configurable, so that tests need not wait. */
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
  /** The period that the run before this one followed; the restored store knows an earlier one, or none. */
  behind?: number;
  /** State of the run that this run continues. */
  carried?: HireProgress;
}

/** What the workflow needs of the tenant's policies; durations in milliseconds. */
export interface HirePolicy {
  skipOnboarding: boolean;
  onboardingDeadlineMs: number;
  cancelGraceMs: number;
}

/** The hold that a hire waits in, and the step that opened it. */
interface CurrentHold {
  holdId: string;
  code: string;
  from: HireStep;
}

/** What a hire carries from one run into the next: ids and verdicts only. */
export interface HireProgress {
  period: number;
  step: HireStep;
  policy: HirePolicy;
  /** When the wait for onboarding ends, in workflow time. */
  deadlineAt?: number;
  /** How long to wait for credits before the next try. */
  creditsWaitMs?: number;
  /** How often in a row the partner did not show the write-back. */
  verifyTries?: number;
  hold?: CurrentHold;
  /** Hints that the run before received but did not act upon. */
  hints?: HintAbout[];
  /** The state in which the hire ended, if not `done`. */
  outcome?: HireState;
}

export interface HireResult {
  state: HireState | 'not-hired';
  period: number;
}
