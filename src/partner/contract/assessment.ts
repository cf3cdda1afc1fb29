/** Section 2.6: assessments (AI interviews), their questions, invitations and results. */
import { z } from 'zod';
import { valueAt } from './endpoint.ts';
import {
  AnyObject,
  atLeastOne,
  Email,
  EpochTime,
  emailToSend,
  JobCandidateId,
  LooseNumber,
  openEnum,
  optionalInteger,
  TextId,
} from './shapes.ts';
export const assessmentStatuses = ['ACTIVE', 'INACTIVE'] as const;
export const assessmentTypes = ['AI_AUDIO_INTERVIEW', 'AI_VIDEO_INTERVIEW'] as const;
export const bucketStatuses = ['pass', 'fail'] as const;
export const defaultBuckets = ['Strong Fit', 'Good Fit', 'Maybe', 'Not a Fit'] as const;
export const aiLanguages = [
  'arabic',
  'bengali',
  'bulgarian',
  'croatian',
  'czech',
  'danish',
  'dutch',
  'english',
  'french',
  'german',
  'greek',
  'hebrew',
  'hindi',
  'hungarian',
  'indonesian',
  'italian',
  'japanese',
  'korean',
  'malay',
  'mandarin',
  'polish',
  'portuguese',
  'russian',
  'spanish',
  'swedish',
  'tagalog',
  'thai',
  'turkish',
  'ukrainian',
  'vietnamese',
] as const;

/** Minutes a question takes, by level (section 4.6). Questions = round(duration / minutes), at least 1. */
export const minutesPerQuestion = { JUNIOR_MID: 3, SENIOR_LEADERSHIP: 5 } as const;

export const AssessmentQuestion = z
  .looseObject({
    id: TextId,
    question: z.string().nullish(),
    type: openEnum(['SUBJECTIVE']).nullish(),
    contextForAI: z.string().nullish(),
    idealAnswer: z.string().nullish(),
    createdAt: EpochTime.nullish(),
    lastUpdatedAt: EpochTime.nullish(),
    createdByCompanyId: TextId.nullish(),
  })
  .meta({ id: 'AssessmentQuestion' });

const Bucket = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  status: openEnum(bucketStatuses).nullish(),
});

/** `jobId` is text, empty when there is none (A16); `companyId` may be a number or text (A19). */
export const Assessment = z
  .looseObject({
    assessmentId: TextId,
    testName: z.string().nullish(),
    companyId: TextId.nullish(),
    jobId: z.union([z.string(), z.number()]).nullish(),
    status: openEnum(assessmentStatuses).nullish(),
    assessmentType: openEnum(assessmentTypes).nullish(),
    questionCount: LooseNumber.nullish(),
    hiringForRole: z.string().nullish(),
    purposeOfInterview: z.string().nullish(),
    duration: LooseNumber.nullish(),
    aiLanguage: openEnum(aiLanguages).nullish(),
    skills: z.array(z.unknown()).nullish(),
    buckets: z.array(Bucket).nullish(),
    resumeAllowed: z.boolean().nullish(),
    maxResumeCount: LooseNumber.nullish(),
    isEmailVerificationRequired: z.boolean().nullish(),
    shouldEvaluateCEFR: z.boolean().nullish(),
    assessmentUrl: z.string().nullish(),
    createdAt: EpochTime.nullish(),
    lastUpdatedOn: EpochTime.nullish(),
    createdBy: z.unknown().optional(),
    postedBy: AnyObject.nullish(),
    submissionCount: LooseNumber.nullish(),
    questions: z.array(AssessmentQuestion).nullish(),
  })
  .meta({ id: 'Assessment' });

/** Candidates who submitted or timed out; the scores' names are not shown. */
export const AssessmentSubmission = z
  .looseObject({ submissionId: TextId, interviewStatus: z.string().nullish(), externalRef: z.string().nullish() })
  .meta({ id: 'AssessmentSubmission' });

const title = z.string().trim().min(1).max(1000);
const role = z.string().trim().min(1).max(500);
const purpose = z.string().trim().min(10).max(5000);
const skills = z.array(z.string().min(1)).max(20);
const duration = z.int().min(1).max(120);
const buckets = z
  .array(z.object({ name: z.string().min(1), description: z.string().optional(), status: z.enum(bucketStatuses) }))
  .max(5)
  .refine((list) => new Set(list.map((bucket) => bucket.name)).size === list.length, {
    error: 'Bucket names must differ',
  });

export const AudioInterviewInput = z
  .object({
    title,
    hiringForRole: role,
    purposeOfInterview: purpose,
    jobId: optionalInteger(),
    isEmailVerificationRequired: z.boolean().default(true),
    status: z.enum(assessmentStatuses).default('ACTIVE'),
    duration: duration.default(20),
    aiLanguage: z.enum(aiLanguages).default('english'),
    skills: skills.default([]),
    buckets: buckets.optional(),
    shouldEvaluateCEFR: z.boolean().default(false),
    resumeAllowed: z.boolean().optional(),
    maxResumeCount: z.int().min(0).max(5).nullish(),
  })
  .refine((body) => body.resumeAllowed !== true || (body.maxResumeCount ?? 0) >= 1, {
    path: ['maxResumeCount'],
    error: 'maxResumeCount is required when resumeAllowed is true, from 1 to 5',
  })
  .meta({ id: 'AudioInterviewInput' });

/** Section 4.6 names language and purpose, everything else aiLanguage and purposeOfInterview: both are read (A1). */
export const AssessmentUpdate = atLeastOne(
  z.object({
    title: title.optional(),
    duration: duration.optional(),
    language: z.enum(aiLanguages).optional(),
    aiLanguage: z.enum(aiLanguages).optional(),
    skills: skills.optional(),
    purpose: purpose.optional(),
    purposeOfInterview: purpose.optional(),
  }),
).meta({ id: 'AssessmentUpdate' });

export const QuestionInput = z
  .object({
    question: z.string().trim().min(1),
    type: z.string().min(1).default('SUBJECTIVE'),
    systemInstruction: z.string().optional(),
    idealAnswer: z.string().optional(),
  })
  .meta({ id: 'QuestionInput' });

export const QuestionUpdate = atLeastOne(
  z.object({
    question: z.string().trim().min(1).optional(),
    type: z.string().min(1).optional(),
    systemInstruction: z.string().optional(),
    idealAnswer: z.string().optional(),
  }),
).meta({ id: 'QuestionUpdate' });

export const AutoGenerateInput = z
  .object({
    jobId: optionalInteger(),
    purpose: purpose.optional(),
    role: role.optional(),
    duration: z.int().min(5).max(60).default(20),
  })
  .refine((body) => body.jobId !== undefined || body.purpose !== undefined, {
    path: ['jobId'],
    error: 'jobId or purpose is required',
  })
  .meta({ id: 'AutoGenerateInput' });

export const GenerateQuestionsInput = atLeastOne(
  z.object({ jobDescription: z.string().trim().min(1).optional(), skills: skills.min(1).optional() }),
).meta({ id: 'GenerateQuestionsInput' });

/** A person to invite: a job candidate, or all three of names and e-mail (section 4.6). */
const invitee = {
  jobCandidateId: z.int().min(1).optional(),
  firstName: z.string().trim().min(1).optional(),
  lastName: z.string().trim().min(1).optional(),
  emailAddress: emailToSend().optional(),
};
const incomplete = { error: 'firstName, lastName and emailAddress are required without jobCandidateId' };

type Named = { [Key in keyof typeof invitee]?: unknown };
function isNamed(entry: Named): boolean {
  return entry.jobCandidateId !== undefined || Boolean(entry.firstName && entry.lastName && entry.emailAddress);
}

export const InviteInput = z.object(invitee).refine(isNamed, incomplete).meta({ id: 'InviteInput' });

export const BulkInviteEntry = z
  .object({ ...invitee, externalRef: z.string().max(255).nullable().optional() })
  .refine(isNamed, incomplete)
  .meta({ id: 'BulkInviteEntry' });

export const InviteResult = z
  .looseObject({ jobCandidateId: JobCandidateId.nullish(), emailAddress: Email.nullish() })
  .meta({ id: 'InviteResult' });

export const InviteOutcome = z.looseObject({
  status: openEnum(['invited', 'skipped', 'failed']).nullish(),
  jobCandidateId: JobCandidateId.nullish(),
  emailAddress: Email.nullish(),
  externalRef: z.string().nullish(),
  reason: z.unknown().optional(),
});
export type InviteOutcome = z.infer<typeof InviteOutcome>;

/** Per-entry outcomes in request order; the name of their list is not shown (A4). */
export const InviteBatch = z.preprocess(
  (batch: unknown) => withResults(batch),
  z
    .looseObject({
      batchId: TextId.nullish(),
      status: openEnum(['processing', 'completed']).nullish(),
      totalCount: LooseNumber.nullish(),
      successCount: LooseNumber.nullish(),
      failedCount: LooseNumber.nullish(),
      skippedCount: LooseNumber.nullish(),
      results: z.array(InviteOutcome).nullish(),
    })
    .meta({ id: 'InviteBatch' }),
);
export type InviteBatch = z.infer<typeof InviteBatch>;

function withResults(batch: unknown): unknown {
  if (Array.isArray(batch)) return { results: batch };
  if (typeof batch !== 'object' || batch === null || 'results' in batch) return batch;
  const found = ['outcomes', 'entries', 'candidates', 'invites']
    .map((name) => valueAt(batch, name))
    .find(Array.isArray);
  return found === undefined ? batch : { ...batch, results: found };
}
