import type { Answer } from './answers.ts';

/** One reason to ask a person. `what` and `asks` are its message: ids, codes and field names only. */
export interface HoldEntry {
  /** Of one hire, or of the whole tenant. */
  scope: 'hire' | 'tenant';
  answers: readonly Answer[];
  what: (about: never) => string;
  /** What to look at, and what each answer means. */
  asks: string;
}

export interface OfHire {
  jobCandidateId: string;
}

export interface RefusedEnd {
  onboardingCandidateIds: string[];
  refusal: string;
  said: string;
}

export interface Misfit {
  onboardingCandidateId: string;
  misfit: string;
}

export interface Ambiguity {
  reason: string;
  keys: string[];
  employeeIds: string[];
}

export interface Refused {
  onboardingCandidateId: string;
  refusal: string;
  status: string | null;
}
