/** Section 2.4: a candidate's application to a job, as it arrives and as it is changed. */
import { z } from 'zod';
import { Candidate } from './candidate.ts';
import { CustomFieldsShown } from './custom-field-input.ts';
import { Email } from './email.ts';
import { CandidateId, JobCandidateId, JobId, StageId } from './ids.ts';
import { AnyObject, atLeastOne, EpochTime, LooseNumber, openEnum } from './shapes.ts';

export const evaluationStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const;

/** No stage among the fields shown (see overrides.ts, `jobCandidateStageField`). */
export const JobCandidate = z
  .looseObject({
    id: JobCandidateId,
    jobId: JobId,
    candidateId: CandidateId,
    profileMatchScore: LooseNumber.nullish(),
    evaluationStatus: openEnum(evaluationStatuses).nullish(),
    criteriaMatches: AnyObject.nullish(),
    recommendToRecruitingFirm: z.boolean().nullish(),
    aiSummary: z.string().nullish(),
    candidate_details: Candidate.nullish(),
    customFields: CustomFieldsShown.nullish(),
  })
  .meta({ id: 'JobCandidate' });
export type JobCandidate = z.infer<typeof JobCandidate>;

/** An item of the listings by stage: three records side by side (K16: the third is not shown). */
export const StageCandidate = z
  .looseObject({
    candidate_details: Candidate,
    jobCandidateDetails: JobCandidate,
    onboardingFormDetails: z.unknown().optional(),
  })
  .meta({ id: 'StageCandidate' });
export type StageCandidate = z.infer<typeof StageCandidate>;

/** Answer of the stage move ("updated stage info", K2). */
export const StageMove = z
  .looseObject({
    jobCandidateId: JobCandidateId.nullish(),
    jobId: JobId.nullish(),
    stageId: StageId.nullish(),
    status: openEnum(['IN_PROGRESS']).nullish(),
  })
  .meta({ id: 'StageMove' });
export type StageMove = z.infer<typeof StageMove>;

const amount = z.union([z.number(), z.string()]).nullish();

export const Application = z
  .looseObject({
    jobCandidateId: JobCandidateId,
    jobId: JobId,
    candidateId: CandidateId,
    appliedAt: EpochTime,
    candidate: z
      .looseObject({
        firstName: z.string().nullish(),
        lastName: z.string().nullish(),
        email: Email.nullish(),
        phone: z.string().nullish(),
      })
      .nullish(),
    currentJobTitle: z.string().nullish(),
    company: z.string().nullish(),
    resumeUrl: z.string().nullish(),
    noticePeriod: amount,
    isWillingToRelocate: z.boolean().nullish(),
    expectedCTC: amount,
    currencyExpectedCTC: z.string().nullish(),
    expectedCTCPeriod: z.string().nullish(),
    currentCTC: amount,
    currencyCurrentCTC: z.string().nullish(),
    currentCTCPeriod: z.string().nullish(),
    gender: z.string().nullish(),
    dateOfBirth: z.string().nullish(),
    nationality: z.string().nullish(),
    screeningQuestionAnswer: z
      .array(z.looseObject({ question: z.string().nullish(), answer: z.unknown().optional() }))
      .nullish(),
    otherFiles: z.array(z.looseObject({ name: z.string().nullish(), url: z.string().nullish() })).nullish(),
    consent: z
      .looseObject({
        acceptedAt: EpochTime.nullish(),
        policyVersion: z.string().nullish(),
        consentDocumentUrl: z.string().nullish(),
        expiresAt: EpochTime.nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'Application' });
export type Application = z.infer<typeof Application>;

export const ConsentDocument = z
  .looseObject({
    jobCandidateId: JobCandidateId,
    document: z.looseObject({
      name: z.string().nullish(),
      category: openEnum(['dpa_acknowledgment']).nullish(),
      policyVersion: z.string().nullish(),
      acceptedAt: EpochTime.nullish(),
      pdfUrl: z.string().nullish(),
      expiresAt: EpochTime.nullish(),
    }),
  })
  .meta({ id: 'ConsentDocument' });
export type ConsentDocument = z.infer<typeof ConsentDocument>;

const sentAmount = z.union([z.number(), z.string()]).optional();

/** The application fields of section 2.4; which of them may be changed, and their types, are not shown (K10). */
export const JobCandidateUpdate = atLeastOne(
  z.object({
    evaluationStatus: z.string().min(1).optional(),
    noticePeriod: sentAmount,
    isWillingToRelocate: z.boolean().optional(),
    expectedCTC: sentAmount,
    currencyExpectedCTC: z.string().optional(),
    expectedCTCPeriod: z.string().optional(),
    currentCTC: sentAmount,
    currencyCurrentCTC: z.string().optional(),
    currentCTCPeriod: z.string().optional(),
    currentJobTitle: z.string().optional(),
    company: z.string().optional(),
    gender: z.string().optional(),
    dateOfBirth: z.iso.date().optional(),
    nationality: z.string().optional(),
  }),
).meta({ id: 'JobCandidateUpdate' });
export type JobCandidateUpdate = z.input<typeof JobCandidateUpdate>;
