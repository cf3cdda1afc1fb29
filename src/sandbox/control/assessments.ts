import { z } from 'zod';
import { aiLanguages, assessmentStatuses, assessmentTypes, bucketStatuses } from '../../partner/contract/assessment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { currentInvite, findFlowCandidate, renderFlowCandidate } from '../records/assessment-flows.ts';
import {
  addQuestion,
  bucketsOf,
  createAssessment,
  findAssessment,
  generatorStates,
  renderAssessmentInFull,
  setGenerator,
  setSharePage,
  sharedParts,
  updateAssessment,
} from '../records/assessments.ts';
import { findSchedule } from '../records/booking-schedules.ts';
import { linkFor, renderLink } from '../records/bookings.ts';
import {
  breakInterview,
  finishInterview,
  leaveInterview,
  resumeInterview,
  scoreInterview,
  startInterview,
  timeOutInterview,
} from '../records/interviews.ts';
import {
  type Invite,
  invite,
  inviteOf,
  personOf,
  renderSubmission,
  type Submission,
  submissionOf,
} from '../records/invites.ts';
import { defineAction } from './action.ts';

const scoring = {
  /** False: the platform never scores it by itself, see scoreInterview. */
  scored: z.boolean().default(true),
  score: z.int().min(0).max(100).optional(),
};
const submission = { submissionId: z.string() };
const invited = {
  assessmentId: z.string(),
  jobCandidateId: z.int().optional(),
  emailAddress: z.string().optional(),
};

export const assessments = {
  createAssessment: defineAction({
    summary: 'Create an audio or video interview in the dashboard, with questions; costs no credit',
    input: z.strictObject({
      title: z.string().min(1),
      assessmentType: z.enum(assessmentTypes).default('AI_VIDEO_INTERVIEW'),
      status: z.enum(assessmentStatuses).default('ACTIVE'),
      jobId: z.int().optional(),
      hiringForRole: z.string().min(1).default('Colleague'),
      purposeOfInterview: z.string().min(10).default('Find out who fits the role'),
      duration: z.int().min(1).max(120).default(20),
      aiLanguage: z.enum(aiLanguages).default('english'),
      skills: z.array(z.string()).max(20).default([]),
      buckets: z
        .array(z.strictObject({ name: z.string().min(1), status: z.enum(bucketStatuses) }))
        .max(5)
        .optional(),
      /** Greater than 0 allows a candidate to resume so often. */
      maxResumeCount: z.int().min(0).max(5).default(0),
      shouldEvaluateCEFR: z.boolean().default(false),
      isEmailVerificationRequired: z.boolean().default(true),
      questions: z.array(z.string().min(1)).default([]),
    }),
    run(ctx, { title, status, jobId, buckets, maxResumeCount, questions, ...rest }) {
      const resumeAllowed = maxResumeCount > 0;
      const fields = {
        testName: title,
        ...rest,
        buckets: bucketsOf(buckets),
        resumeAllowed,
        maxResumeCount: resumeAllowed ? maxResumeCount : null,
      };
      const assessment = createAssessment(ctx, { fields, jobId, status });
      for (const question of questions) addQuestion(ctx, assessment.id, { question, type: 'SUBJECTIVE' });
      return renderAssessmentInFull(ctx, assessment);
    },
  }),

  setAssessmentStatus: defineAction({
    summary: 'Activate or deactivate an assessment',
    input: z.strictObject({ assessmentId: z.string(), status: z.enum(assessmentStatuses) }),
    run: (ctx, { assessmentId, status }) =>
      renderAssessmentInFull(ctx, updateAssessment(ctx, assessmentId, { status })),
  }),

  setQuestionGenerator: defineAction({
    summary:
      'Break or mend question generation: AI_GENERATION_FAILED or AI_GENERATION_EMPTY, 500, at every call or so often',
    input: z.strictObject({
      state: z.enum(generatorStates),
      /** 1: only the next call is refused. */
      times: z.int().min(1).optional(),
    }),
    run(ctx, { state, times }) {
      setGenerator(ctx, state, times);
      return { state, times };
    },
  }),

  takeInterview: defineAction({
    summary:
      'An invited person takes the interview to its end, scored or not: interview.started, .ended, .scoring_completed',
    input: z.strictObject({ ...invited, ...scoring }),
    run: (ctx, { scored, score, ...who }) => take(ctx, findInvite(ctx, who), { scored, score }),
  }),

  startInterview: defineAction({
    summary: 'An invited person begins: interview.started',
    input: z.strictObject(invited),
    run: (ctx, who) => renderSubmission(ctx, startInterview(ctx, findInvite(ctx, who))),
  }),

  leaveInterview: defineAction({
    summary: 'Close an interview unfinished: paused while resumes are left, otherwise timed out and ended',
    input: z.strictObject({ ...submission, ...scoring }),
    run: (ctx, { submissionId, ...how }) => renderSubmission(ctx, leaveInterview(ctx, submissionId, how)),
  }),

  breakInterview: defineAction({
    summary: 'An interview breaks off: interview.error, which the specification does not name, then as leaveInterview',
    input: z.strictObject({ ...submission, ...scoring }),
    run: (ctx, { submissionId, ...how }) => renderSubmission(ctx, breakInterview(ctx, submissionId, how)),
  }),

  resumeInterview: defineAction({
    summary: 'Come back to a paused interview, at most maxResumeCount times',
    input: z.strictObject(submission),
    run: (ctx, { submissionId }) => renderSubmission(ctx, resumeInterview(ctx, submissionId)),
  }),

  timeOutInterview: defineAction({
    summary: 'End a begun or paused interview because nobody came back: timed out, interview.ended, then scored',
    input: z.strictObject({ ...submission, ...scoring }),
    run: (ctx, { submissionId, ...how }) => renderSubmission(ctx, timeOutInterview(ctx, submissionId, how)),
  }),

  finishInterview: defineAction({
    summary: 'Finish an interview: interview.ended, and .scoring_completed a moment later unless scored is false',
    input: z.strictObject({ ...submission, ...scoring }),
    run: (ctx, { submissionId, ...how }) => renderSubmission(ctx, finishInterview(ctx, submissionId, how)),
  }),

  scoreInterview: defineAction({
    summary: 'Score an ended interview at once: interview.scoring_completed',
    input: z.strictObject({ ...submission, score: scoring.score }),
    run: (ctx, input) => renderSubmission(ctx, scoreInterview(ctx, input)),
  }),

  configureSharePage: defineAction({
    summary: 'Configure the public page of interview results: whether there is one, and what it shows',
    input: z.strictObject({
      enabled: z.boolean().default(true),
      shows: z.array(z.enum(sharedParts)).default([...sharedParts]),
    }),
    run(ctx, to) {
      setSharePage(ctx, to);
      return to;
    },
  }),

  finishFlowStep: defineAction({
    summary: 'Take the interview of the step a flow candidate is at; its score decides how the flow goes on',
    input: z.strictObject({ flowCandidateId: z.int(), ...scoring }),
    run(ctx, { flowCandidateId, ...how }) {
      const invite = currentInvite(ctx, findFlowCandidate(ctx, flowCandidateId));
      if (invite === undefined) throw notFound('Invitation');
      return {
        submission: take(ctx, invite, how),
        flowCandidate: renderFlowCandidate(findFlowCandidate(ctx, flowCandidateId)),
      };
    },
  }),
};

/** Goes on where the person is: begun and paused interviews are finished. */
function take(ctx: Context, invite: Invite, how: { scored: boolean; score?: number | undefined }): unknown {
  const begun: Submission = submissionOf(ctx, invite.id) ?? startInterview(ctx, invite);
  if (begun.status === 'PAUSED') resumeInterview(ctx, begun.id);
  return renderSubmission(ctx, finishInterview(ctx, begun.id, how));
}

/** Only who was invited has a link. */
function findInvite(ctx: Context, who: { assessmentId: string } & Parameters<typeof personOf>[1]): Invite {
  const invite = inviteOf(ctx, who.assessmentId, personOf(ctx, who).email);
  if (invite === undefined) throw notFound('Invitation');
  return invite;
}

export const invitations = {
  inviteToInterview: defineAction({
    summary: 'Invite somebody who is on a job to an assessment; the e-mail has the address of its page',
    input: z.strictObject({ assessmentId: z.string(), jobCandidateId: z.int() }),
    run: (ctx, { assessmentId, jobCandidateId }) => invite(ctx, findAssessment(ctx, assessmentId), { jobCandidateId }),
  }),

  sendBookingLink: defineAction({
    summary: 'Send somebody who is on a job a link to book a slot; an active one is sent again',
    input: z.strictObject({ bookingScheduleId: z.string(), jobCandidateId: z.int() }),
    run: (ctx, { bookingScheduleId, jobCandidateId }) =>
      renderLink(
        ctx,
        linkFor(
          ctx,
          findSchedule(ctx, bookingScheduleId),
          { entityType: 'JOB_CANDIDATE', entityId: String(jobCandidateId) },
          undefined,
        ),
      ),
  }),
};
