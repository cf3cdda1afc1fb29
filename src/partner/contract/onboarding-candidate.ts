/** Section 2.9: onboarding records. */
import { z } from 'zod';
import { Email } from './email.ts';
import { CandidateId, FlowId, JobCandidateId, JobId, OnboardingCandidateId } from './ids.ts';
import { AnyObject, EpochTime, LooseNumber, openEnum, TextId } from './shapes.ts';

export const overallStatuses = [
  'not_started',
  'in_progress',
  'partial_submission',
  'under_review',
  'final_handoff',
  'completed',
  'rejected',
  'failed',
  'terminated',
] as const;
/** Terminating one of these answers 409 ALREADY_TERMINAL (section 3). */
export const terminalStatuses = ['completed', 'rejected', 'failed', 'terminated'] as const;
export const stepKeys = ['doc_collection', 'pre_employment_medical_test', 'background_verification'] as const;
export const stepStatuses = ['pending', 'in_progress', 'submitted', 'verified', 'rejected'] as const;
export const offerStatuses = ['draft', 'in_progress', 'completed'] as const;
export const signerStatuses = ['pending', 'sent', 'opened', 'signed'] as const;

export const OnboardingFlow = z
  .looseObject({
    flowId: FlowId,
    name: z.string().nullish(),
    status: z.string().nullish(),
    steps: z
      .array(
        z.looseObject({
          stepKey: openEnum(stepKeys),
          stepOrder: LooseNumber.nullish(),
          isActive: z.boolean().nullish(),
        }),
      )
      .nullish(),
    createdAt: EpochTime.nullish(),
    updatedAt: EpochTime.nullish(),
  })
  .meta({ id: 'OnboardingFlow' });
export type OnboardingFlow = z.infer<typeof OnboardingFlow>;

export const OnboardingStep = z
  .looseObject({
    stepKey: openEnum(stepKeys),
    stepOrder: LooseNumber.nullish(),
    status: openEnum(stepStatuses),
    rejectionReason: z.string().nullish(),
    verifiedAt: EpochTime.nullish(),
  })
  .meta({ id: 'OnboardingStep' });
export type OnboardingStep = z.infer<typeof OnboardingStep>;

/** `stepProgress` is absent on list items; the external status stands at overrides.externalStatusAt (O12). */
export const OnboardingCandidate = z
  .looseObject({
    onboardingCandidateId: OnboardingCandidateId,
    flowId: FlowId.nullish(),
    overallStatus: openEnum(overallStatuses).nullish(),
    externalRef: z.string().nullish(),
    journeyUrl: z.string().nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    email: Email.nullish(),
    phoneNumber: z.string().nullish(),
    stepProgress: z.array(OnboardingStep).nullish(),
    enrolledAt: EpochTime.nullish(),
    metadata: AnyObject.nullish(),
    externalStatus: z.unknown().optional(),
  })
  .meta({ id: 'OnboardingCandidate' });
export type OnboardingCandidate = z.infer<typeof OnboardingCandidate>;

/** An entry of the bulk answer. */
export const EnrolledCandidate = z
  .looseObject({
    onboardingCandidateId: OnboardingCandidateId,
    email: Email.nullish(),
    externalRef: z.string().nullish(),
    journeyUrl: z.string().nullish(),
  })
  .meta({ id: 'EnrolledCandidate' });
export type EnrolledCandidate = z.infer<typeof EnrolledCandidate>;

export const OnboardingDocument = z
  .looseObject({
    documentId: TextId,
    name: z.string().nullish(),
    type: z.string().nullish(),
    pdfUrl: z.string().nullish(),
  })
  .meta({ id: 'OnboardingDocument' });
export type OnboardingDocument = z.infer<typeof OnboardingDocument>;

/** No compensation fields; the two URLs appear once completed. */
export const Offer = z
  .looseObject({
    offerId: TextId,
    status: openEnum(offerStatuses).nullish(),
    candidateId: CandidateId.nullish(),
    jobCandidateId: JobCandidateId.nullish(),
    jobId: JobId.nullish(),
    signers: z
      .array(
        z.looseObject({
          status: openEnum(signerStatuses).nullish(),
          openedAt: EpochTime.nullish(),
          signedAt: EpochTime.nullish(),
          signingOrder: LooseNumber.nullish(),
        }),
      )
      .nullish(),
    signedPdfUrl: z.string().nullish(),
    certificateUrl: z.string().nullish(),
  })
  .meta({ id: 'Offer' });
export type Offer = z.infer<typeof Offer>;

export const EnrolmentInput = z
  .object({
    firstName: z.string().trim().min(1),
    lastName: z.string().trim().min(1),
    email: z.email(),
    phoneNumber: z.e164().optional(),
    externalRef: z.string().max(255).nullable().optional(),
    metadata: AnyObject.nullable().optional(),
  })
  .meta({ id: 'EnrolmentInput' });
export type EnrolmentInput = z.input<typeof EnrolmentInput>;
