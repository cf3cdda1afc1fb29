import type { Decisions } from '../hire/decisions.ts';
import { type HireRef, isSameHire } from '../hire/hire-ref.ts';
import { type Held, held } from '../hire/holds.ts';

/** Who else has to do with the person of a hire. */
export interface ClaimObservation {
  ref: HireRef;
  /** The hire that holds the claim on the person; this one's own where it took it. */
  holder: HireRef;
  /** Whether the holder is another hire that is on its way to an employee and has none yet. */
  holderWaits: boolean;
  /** The newest hire besides this one whose employee is linked to the person. */
  before: HireRef | undefined;
  /** A hire of the person that hirebridge did not make, or whose employee a removed tenant may have made. */
  recorded?: (HireRef & { how?: string }) | undefined;
}

/**
 * A person whom another hire holds or has linked is a question to a person. `take` says that the claim moves to this
 * hire: the other one has its employee, and somebody decided what this one is.
 */
export function judgeClaim(
  { ref, holder, holderWaits, before, recorded }: ClaimObservation,
  decisions: Decisions,
): { verdict: 'claimed'; take: boolean } | Held {
  const mine = isSameHire(holder, ref);
  if (before === undefined && recorded !== undefined && !isSameApplication(recorded, ref)) {
    const isDecided = decisions.person === 'new-employment' || decisions.link !== undefined;
    if (!isDecided) return held('PERSON_RECORDED', { jobCandidateId: ref.jobCandidateId, other: recorded });
  }
  const isRecorded = recorded !== undefined && isSameHire(holder, recorded);
  if (before === undefined && isRecorded) return { verdict: 'claimed', take: !mine };
  if (mine && before === undefined) return { verdict: 'claimed', take: false };
  const { jobCandidateId } = ref;
  if (decisions.person === undefined) return held('PERSON_HIRED_BEFORE', { jobCandidateId, other: before ?? holder });
  // Of three applications two could be told to be new employments, and neither person was shown the other one.
  if (before === undefined || holderWaits) return held('PERSON_BEING_HIRED', { jobCandidateId, other: holder });
  return { verdict: 'claimed', take: !mine };
}

/** The hire as it was recorded, which a person started; or the same application, passed over by another tenant. */
function isSameApplication(recorded: HireRef & { how?: string }, ref: HireRef): boolean {
  if (recorded.tenantId === ref.tenantId) return isSameHire(recorded, ref);
  return recorded.how !== 'removed' && recorded.jobCandidateId === ref.jobCandidateId;
}
