import { z } from 'zod';
import type { Context } from '../context.ts';
import { findCandidate } from '../records/candidates/candidates.ts';
import { findJobCandidate } from '../records/job-candidates/job-candidates.ts';
import type { Offer } from '../records/onboarding/offers.ts';
import { cancelOffer, createOffer, findOffer, openOffer, sendOffer, signOffer } from '../records/onboarding/offers.ts';
import { listUsers } from '../records/workspace/users.ts';
import { defineAction } from './action.ts';

const offer = { offerId: z.string() };
const signer = { ...offer, signingOrder: z.int().min(1) };

export const offers = {
  createOffer: defineAction({
    summary: 'Create an offer document as a draft; without signers the company signs first, then the candidate',
    input: z.strictObject({
      jobCandidateId: z.int(),
      name: z.string().min(1).default('Offer of employment'),
      signers: z
        .array(z.strictObject({ name: z.string().min(1), email: z.email() }))
        .min(1)
        .optional(),
    }),
    run: (ctx, { jobCandidateId, name, signers }) =>
      shown(createOffer(ctx, { jobCandidateId, name, signers: signers ?? usualSigners(ctx, jobCandidateId) })),
  }),

  sendOffer: defineAction({
    summary: 'Send a draft to its first signer',
    input: z.strictObject(offer),
    run: (ctx, { offerId }) => shown(sendOffer(ctx, offerId)),
  }),

  remindOffer: defineAction({
    summary: 'Remind whose turn it is; nothing changes',
    input: z.strictObject(offer),
    run: (ctx, { offerId }) => shown(findOffer(ctx, offerId)),
  }),

  openOffer: defineAction({
    summary: 'A signer whose turn it is looks at the offer',
    input: z.strictObject(signer),
    run: (ctx, { offerId, signingOrder }) => shown(openOffer(ctx, offerId, signingOrder)),
  }),

  signOffer: defineAction({
    summary: 'A signer whose turn it is signs; the last signature completes the offer: onboarding.offer.completed',
    input: z.strictObject(signer),
    run: (ctx, { offerId, signingOrder }) => shown(signOffer(ctx, offerId, signingOrder)),
  }),

  completeOffer: defineAction({
    summary: 'Send the offer if need be and have everybody sign who has not: onboarding.offer.completed',
    input: z.strictObject(offer),
    run(ctx, { offerId }) {
      let now = findOffer(ctx, offerId);
      if (now.status === 'draft') now = sendOffer(ctx, offerId);
      for (const { signingOrder, status } of now.signers)
        if (status !== 'signed') now = signOffer(ctx, offerId, signingOrder);
      return shown(now);
    },
  }),

  cancelOffer: defineAction({
    summary: 'Cancel an offer that is not completed: it is gone',
    input: z.strictObject(offer),
    run(ctx, { offerId }) {
      cancelOffer(ctx, offerId);
      return { cancelled: offerId };
    },
  }),
};

function usualSigners(ctx: Context, jobCandidateId: number): { name: string; email: string }[] {
  const [owner] = listUsers(ctx);
  const candidate = findCandidate(ctx, findJobCandidate(ctx, jobCandidateId).candidateId);
  return [...(owner === undefined ? [] : [owner]), candidate].map(({ firstName, lastName, email }) => ({
    name: `${firstName ?? ''} ${lastName ?? ''}`.trim(),
    email,
  }));
}

function shown({ id, ...fields }: Offer): { offerId: string } & Omit<Offer, 'id'> {
  return { offerId: id, ...fields };
}
