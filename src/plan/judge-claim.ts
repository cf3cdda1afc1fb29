import type { Decisions } from '../hire/decisions.ts';
import type { HireRef } from '../hire/hire-ref.ts';
import { type Held, held } from '../hire/holds.ts';

/** Who else has to do with the person of a hire. */
export interface ClaimObservation {
  ref: HireRef;
  /** The hire that holds the claim on the person; this one's own where it took it. */
  holder: HireRef;
  /** The newest hire besides this one whose employee is linked to the person. */
  before: HireRef | undefined;
}

/**
 * A person whom another hire holds or has linked is a question to a person. `take` says that the claim moves to this
 * hire: the other one has its employee, and somebody decided what this one is.
 */
export function judgeClaim(
  { ref, holder, before }: ClaimObservation,
  decisions: Decisions,
): { verdict: 'claimed'; take: boolean } | Held {
  const mine = isSameHire(holder, ref);
  if (mine && before === undefined) return { verdict: 'claimed', take: false };
  const about = { jobCandidateId: ref.jobCandidateId, other: before ?? holder };
  if (decisions.person === undefined) return held('PERSON_HIRED_BEFORE', about);
  if (before === undefined) return held('PERSON_BEING_HIRED', about);
  return { verdict: 'claimed', take: !mine };
}

export function isSameHire(one: HireRef, other: HireRef): boolean {
  return one.tenantId === other.tenantId && one.jobCandidateId === other.jobCandidateId && one.period === other.period;
}
