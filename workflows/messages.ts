import { defineSignal } from '@temporalio/workflow';

/** Why something should be read again. A hint: it decides what is read first, never what is true. */
export type HintAbout = 'person' | 'onboarding' | 'answer' | 'credits';

/** One hint for one hire. Harmless when repeated: the next step asks the store and the partner. */
export const hintSignal = defineSignal<[HintAbout]>('hint');

/** One application in one employment period. */
export interface HireRef {
  tenantId: string;
  jobCandidateId: string;
  period: number;
}

/** How long a stalled worker goes unnoticed; from configuration, so that tests need not wait. Milliseconds. */
export interface HireTiming {
  heartbeatMs: number;
  attemptMs: number;
  retryMs: number;
}

export interface HireInput {
  tenantId: string;
  jobCandidateId: string;
  timing: HireTiming;
  /** A person asks for this hire although the baseline recorded it as before go-live. */
  adopt?: boolean;
  /** The reconcile found the person of a finished hire gone. */
  watch?: boolean;
  /** State of the run before, when this run continues it. */
  carried?: HireProgress;
}

/** What a workflow needs of the tenant's policies; durations in milliseconds. */
export interface HirePolicy {
  skipOnboarding: boolean;
  onboardingDeadlineMs: number;
  cancelGraceMs: number;
}

export type HireStep =
  | 'enrol'
  | 're-enrol'
  | 'onboard'
  | 'employ'
  | 'write-back'
  | 'verify'
  | 'leave'
  | 'cancel'
  | 'watch-done'
  | 'ended';

/** Everything a hire carries from one run into the next: ids and verdicts only. */
export interface HireProgress {
  period: number;
  step: HireStep;
  policy: HirePolicy;
  /** End of the wait for onboarding, workflow time. */
  deadlineAt?: number;
  /** How often the write-back was not shown in a row. */
  verifyTries?: number;
  /** The hold this hire waits in, and the step it came from. */
  hold?: { holdId: string; code: string; from: HireStep };
  /** A hint about the person came while an irreversible step was under way. */
  personHinted?: boolean;
}

export interface HireResult {
  state: 'done' | 'cancelled' | 'ended' | 'before-go-live' | 'not-hired';
  period: number;
}
