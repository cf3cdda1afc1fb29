import { z } from 'zod';
import { EnrolmentInput, overallStatuses, stepKeys, stepStatuses } from '../../partner/contract/onboarding.ts';
import type { Context } from '../context.ts';
import { findCandidate } from '../records/candidates.ts';
import {
  createFlow,
  flowStatuses,
  listFlows,
  renderEnrolmentInFull,
  renderFlow,
  setFlowStatus,
  stepsOf,
} from '../records/enrolments.ts';
import { findJobCandidate } from '../records/job-candidates.ts';
import { enrol, openJourney, setOverallStatus, setStep } from '../records/onboarding.ts';
import {
  cancelOffer,
  createOffer,
  findOffer,
  type Offer,
  openOffer,
  renderDocument,
  sendOffer,
  signOffer,
  uploadDocuments,
} from '../records/onboarding-documents.ts';
import { listUsers } from '../records/users.ts';
import { defineAction, NoInput } from './action.ts';

const enrolment = { onboardingCandidateId: z.string() };
const step = { ...enrolment, stepKey: z.enum(stepKeys) };

export const onboarding = {
  createOnboardingFlow: defineAction({
    summary: 'Create an onboarding flow',
    input: z.strictObject({
      name: z.string().min(1),
      steps: z
        .array(z.strictObject({ stepKey: z.enum(stepKeys), isActive: z.boolean().optional() }))
        .refine((steps) => new Set(steps.map(({ stepKey }) => stepKey)).size === steps.length, {
          error: 'a step can stand in a flow once',
        })
        .default([{ stepKey: 'doc_collection' }]),
      status: z.enum(flowStatuses).default('ACTIVE'),
    }),
    run: (ctx, input) => renderFlow(createFlow(ctx, input)),
  }),

  setOnboardingFlowStatus: defineAction({
    summary: 'Activate or deactivate an onboarding flow',
    input: z.strictObject({ flowId: z.string(), status: z.enum(flowStatuses) }),
    run: (ctx, { flowId, status }) => renderFlow(setFlowStatus(ctx, flowId, status)),
  }),

  listOnboardingFlows: defineAction({
    summary: 'The onboarding flows of the company',
    input: NoInput,
    run: (ctx) => ({ flows: listFlows(ctx, undefined).map(renderFlow) }),
  }),

  enrol: defineAction({
    summary: 'Enrol somebody by hand in the dashboard; costs a credit like the API',
    input: z.strictObject({ flowId: z.string(), ...EnrolmentInput.shape }),
    run(ctx, { flowId, ...entry }) {
      const [enrolled] = enrol(ctx, flowId, [entry]);
      return enrolled === undefined ? null : renderEnrolmentInFull(ctx, enrolled);
    },
  }),

  openJourney: defineAction({
    summary: 'The candidate opens the journey link, which stops working once terminated, rejected or failed',
    input: z.strictObject(enrolment),
    run: (ctx, { onboardingCandidateId }) => renderEnrolmentInFull(ctx, openJourney(ctx, onboardingCandidateId)),
  }),

  uploadDocuments: defineAction({
    summary: 'The candidate uploads files through the journey link: at most 30 at once, each at most 10 MB',
    input: z.strictObject({
      ...enrolment,
      files: z.array(z.strictObject({ name: z.string().min(1), bytes: z.int().min(1).default(1000) })).min(1),
    }),
    run(ctx, { onboardingCandidateId, files }) {
      const documents = uploadDocuments(ctx, openJourney(ctx, onboardingCandidateId), files);
      setStep(ctx, onboardingCandidateId, 'doc_collection', 'in_progress');
      return { documents: documents.map((one) => renderDocument(ctx, one)) };
    },
  }),

  submitStep: defineAction({
    summary: 'The candidate works on or submits a step; overallStatus follows',
    input: z.strictObject({ ...step, status: z.enum(stepStatuses).default('submitted') }),
    run: (ctx, { onboardingCandidateId, stepKey, status }) =>
      renderEnrolmentInFull(ctx, setStep(ctx, onboardingCandidateId, stepKey, status)),
  }),

  verifyStep: defineAction({
    summary: 'A reviewer verifies a step; final_handoff once all are verified',
    input: z.strictObject(step),
    run: (ctx, { onboardingCandidateId, stepKey }) =>
      renderEnrolmentInFull(ctx, setStep(ctx, onboardingCandidateId, stepKey, 'verified')),
  }),

  rejectStep: defineAction({
    summary: 'A reviewer rejects a step',
    input: z.strictObject({ ...step, reason: z.string().default('Not legible') }),
    run: (ctx, { onboardingCandidateId, stepKey, reason }) =>
      renderEnrolmentInFull(ctx, setStep(ctx, onboardingCandidateId, stepKey, 'rejected', reason)),
  }),

  setOnboardingStatus: defineAction({
    summary: 'Set any of the nine overall statuses: onboarding.candidate.status_changed, and .completed besides',
    input: z.strictObject({ ...enrolment, overallStatus: z.enum(overallStatuses) }),
    run: (ctx, { onboardingCandidateId, overallStatus }) =>
      renderEnrolmentInFull(ctx, setOverallStatus(ctx, onboardingCandidateId, overallStatus)),
  }),

  finishOnboarding: defineAction({
    summary: 'Submit and verify every step, which ends in final_handoff, and complete it unless told to stop there',
    input: z.strictObject({ ...enrolment, as: z.enum(['final_handoff', 'completed']).default('completed') }),
    run(ctx, { onboardingCandidateId, as }) {
      for (const { stepKey } of stepsOf(ctx, onboardingCandidateId))
        setStep(ctx, onboardingCandidateId, stepKey, 'submitted');
      for (const { stepKey } of stepsOf(ctx, onboardingCandidateId))
        setStep(ctx, onboardingCandidateId, stepKey, 'verified');
      return renderEnrolmentInFull(ctx, setOverallStatus(ctx, onboardingCandidateId, as));
    },
  }),
};

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
    summary: 'Remind the next signer; nothing changes',
    input: z.strictObject(offer),
    run: (ctx, { offerId }) => shown(findOffer(ctx, offerId)),
  }),

  openOffer: defineAction({
    summary: 'The next signer opens the offer',
    input: z.strictObject(signer),
    run: (ctx, { offerId, signingOrder }) => shown(openOffer(ctx, offerId, signingOrder)),
  }),

  signOffer: defineAction({
    summary: 'The next signer signs; the last signature completes the offer: onboarding.offer.completed',
    input: z.strictObject(signer),
    run: (ctx, { offerId, signingOrder }) => shown(signOffer(ctx, offerId, signingOrder)),
  }),

  completeOffer: defineAction({
    summary: 'Send the offer if needed, and let all remaining signers sign: onboarding.offer.completed',
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
    summary: 'Cancel an offer that is not completed; it disappears',
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
