import type { Context } from '../context.ts';
import { findCandidate } from '../records/candidates/candidates.ts';
import { findJobCandidate } from '../records/job-candidates/job-candidates.ts';
import { createOffer, openOffer, sendOffer, signOffer } from '../records/onboarding/offers.ts';

/** An offer that its candidate has signed, one that waits for a signature, and a draft, as far as there are people. */
export function seedOffers(ctx: Context, jobCandidateIds: readonly number[]): void {
  const [signed, waiting] = jobCandidateIds.slice(0, 3).map((id) => offerFor(ctx, id));
  if (waiting !== undefined) sendOffer(ctx, waiting);
  if (signed === undefined) return;
  sendOffer(ctx, signed);
  signOffer(ctx, signed, 1);
}

/** More offers, each further on its way than the one before: draft, sent, opened, signed. */
export function seedMoreOffers(ctx: Context, jobCandidateIds: readonly number[]): void {
  for (const [index, jobCandidateId] of jobCandidateIds.entries()) {
    const offerId = offerFor(ctx, jobCandidateId);
    const steps = [sendOffer, openOffer, signOffer].slice(0, index % 4);
    for (const step of steps) step(ctx, offerId, 1);
  }
}

function offerFor(ctx: Context, jobCandidateId: number): string {
  const { firstName, lastName, email } = findCandidate(ctx, findJobCandidate(ctx, jobCandidateId).candidateId);
  const signers = [{ name: `${firstName ?? ''} ${lastName ?? ''}`, email }];
  return createOffer(ctx, { jobCandidateId, name: 'Offer of employment', signers }).id;
}
