import { z } from 'zod';
import { aiLanguages, assessmentStatuses, assessmentTypes, bucketStatuses } from '../../partner/contract/assessment.ts';
import {
  BookingInput,
  bookingEntityTypes,
  bookingModes,
  bookingQuestionTypes,
  locationTypes,
  scheduleProfiles,
} from '../../partner/contract/booking-schedules.ts';
import { campaignPurposes } from '../../partner/contract/campaigns.ts';
import { type Context, notFound } from '../context.ts';
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
import { createSchedule, deleteSchedule, findSchedule, renderSchedule } from '../records/booking-schedules.ts';
import {
  book,
  cancelBooking,
  findLink,
  isOpen,
  linkFor,
  listLinks,
  renderBooking,
  renderLink,
  rescheduleBooking,
  setAttendance,
  setLinkStatus,
} from '../records/bookings.ts';
import { enablePurposes, LEAD_LABELS, type LeadStatus, setCampaign, setLeadStatus } from '../records/campaigns.ts';
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
      /** How often a candidate may resume; 0 for never. */
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
    summary: 'Configure the public page of interview results: on or off, and its contents',
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
    summary: "Take the interview of a flow candidate's current step; its score decides how the flow continues",
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

/** Continues the person's interview: begun and paused interviews are finished. */
function take(ctx: Context, invite: Invite, how: { scored: boolean; score?: number | undefined }): unknown {
  const begun: Submission = submissionOf(ctx, invite.id) ?? startInterview(ctx, invite);
  if (begun.status === 'PAUSED') resumeInterview(ctx, begun.id);
  return renderSubmission(ctx, finishInterview(ctx, begun.id, how));
}

/** Only invited people have a link. */
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

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const OpeningHours = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).default([1, 2, 3, 4, 5]),
    from: time.default('09:00'),
    to: time.default('17:00'),
    capacity: z.int().min(1).nullable().default(1),
  })
  .prefault({});

const Place = z.strictObject({
  type: z.enum(locationTypes),
  label: z.string().min(1),
  details: z.string().optional(),
  instructions: z.string().optional(),
  lat: z.number().optional(),
  lng: z.number().optional(),
  photoUrls: z.array(z.url()).max(5).default([]),
});

const Asked = z
  .strictObject({
    id: z.string().min(1),
    type: z.enum(bookingQuestionTypes),
    label: z.string().min(1),
    required: z.boolean().default(false),
    options: z.array(z.string()).min(1).optional(),
    maxLength: z.int().min(1).optional(),
  })
  .refine(({ type, options }) => type.endsWith('_choice') === (options !== undefined), {
    error: 'options are for choice types, which need them',
  })
  .refine(({ type, maxLength }) => maxLength === undefined || type.startsWith('text'), {
    error: 'maxLength is for text and textarea',
  });

const { entityType: _type, entityId, ...choices } = BookingInput.shape;

export const booking = {
  createBookingSchedule: defineAction({
    summary: 'Create a booking schedule with its opening hours; an EVENT has locations and may ask questions',
    input: z
      .strictObject({
        name: z.string().min(1).default('Interview'),
        description: z.string().optional(),
        durationMinutes: z.int().min(5).max(1440).default(30),
        timezone: z.string().default('Europe/London'),
        bookingMode: z.enum(bookingModes).default('ONLINE'),
        scheduleProfile: z.enum(scheduleProfiles).default('INTERVIEW'),
        companySiteId: z.int().optional(),
        visibleDaysAhead: z.int().min(1).max(365).default(30),
        expiresAt: z.iso
          .datetime({ offset: true })
          .transform((text) => Date.parse(text))
          .optional(),
        allowCandidateReschedule: z.boolean().optional(),
        rescheduleCutoffHours: z.int().min(0).optional(),
        isAllDayEvent: z.boolean().optional(),
        availability: OpeningHours,
        locations: z.array(Place).default([{ type: 'in_person', label: 'Head office', photoUrls: [] }]),
        questions: z.array(Asked).default([]),
      })
      .refine(({ scheduleProfile, locations }) => scheduleProfile === 'INTERVIEW' || locations.length > 0, {
        path: ['locations'],
        error: 'an EVENT needs at least one location: a booking must name one',
      }),
    run(ctx, input) {
      const schedule = createSchedule(ctx, input);
      return { ...renderSchedule(schedule), id: schedule.id, locationIds: schedule.locations.map(({ id }) => id) };
    },
  }),

  deleteBookingSchedule: defineAction({
    summary: 'Delete a booking schedule; its open links are revoked',
    input: z.strictObject({ bookingScheduleId: z.string() }),
    run(ctx, { bookingScheduleId }) {
      deleteSchedule(ctx, bookingScheduleId);
      return { deleted: bookingScheduleId };
    },
  }),

  listBookingLinks: defineAction({
    summary: 'The links of a schedule with their statuses',
    input: z.strictObject({ bookingScheduleId: z.string() }),
    run: (ctx, { bookingScheduleId }) => ({
      links: listLinks(ctx, bookingScheduleId).map((link) => renderLink(ctx, link)),
    }),
  }),

  revokeBookingLink: defineAction({
    summary: 'Invalidate an ACTIVE link',
    input: z.strictObject({ bookingLinkId: z.string() }),
    run: (ctx, { bookingLinkId }) => renderLink(ctx, setLinkStatus(ctx, findLink(ctx, bookingLinkId), 'REVOKED')),
  }),

  bookThroughLink: defineAction({
    summary: 'The candidate opens the link and books a slot: the link is LOCKED',
    input: z.strictObject({ bookingLinkId: z.string(), ...choices }),
    run(ctx, { bookingLinkId, ...chosen }) {
      const link = findLink(ctx, bookingLinkId);
      if (!isOpen(ctx, link)) throw notFound('An open booking link');
      const { scheduleId, entityType, entityId } = link;
      return renderBooking(book(ctx, findSchedule(ctx, scheduleId), { entityType, entityId, ...chosen }));
    },
  }),

  book: defineAction({
    summary: 'Book for anybody, also a campaign lead by its internal id',
    input: z.strictObject({
      bookingScheduleId: z.string(),
      entityType: z.enum(bookingEntityTypes).default('OUTREACH_CAMPAIGN_CANDIDATE'),
      entityId,
      ...choices,
    }),
    run: (ctx, { bookingScheduleId, ...order }) =>
      renderBooking(book(ctx, findSchedule(ctx, bookingScheduleId), order)),
  }),

  rescheduleBooking: defineAction({
    summary: 'Move a booking to another free slot; a candidate only where and until the schedule allows it',
    input: z.strictObject({
      bookingId: z.string(),
      scheduledStartAt: BookingInput.shape.scheduledStartAt,
      by: z.enum(['recruiter', 'candidate']).default('recruiter'),
    }),
    run: (ctx, { bookingId, scheduledStartAt, by }) =>
      renderBooking(rescheduleBooking(ctx, bookingId, Date.parse(scheduledStartAt), by)),
  }),

  checkIn: defineAction({
    summary: 'The person of a booking came',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(setAttendance(ctx, bookingId, 'CHECKED_IN')),
  }),

  markNoShow: defineAction({
    summary: 'The person of a booking did not come',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(setAttendance(ctx, bookingId, 'NO_SHOW')),
  }),

  cancelBooking: defineAction({
    summary: 'Cancel a booking: its slot is free again, its link stays LOCKED',
    input: z.strictObject({ bookingId: z.string() }),
    run: (ctx, { bookingId }) => renderBooking(cancelBooking(ctx, bookingId)),
  }),
};

const campaign = { campaignId: z.int() };

export const campaigns = {
  enableCampaignPurposes: defineAction({
    summary: 'Configure which purposes the workspace accepts; only ASSESSMENT_REMINDER at first',
    input: z.strictObject({ purposes: z.array(z.enum(campaignPurposes)).default([...campaignPurposes]) }),
    run: (ctx, { purposes }) => ({ purposes: enablePurposes(ctx, purposes) }),
  }),

  setCampaign: defineAction({
    summary: 'Pause or complete a campaign, or make it one that is not of the whole company: the API then answers 404',
    input: z.strictObject({
      ...campaign,
      status: z.enum(['DRAFT', 'RUNNING', 'PAUSED', 'COMPLETED']).optional(),
      accessLevel: z.enum(['COMPANY', 'USER']).optional(),
    }),
    run(ctx, { campaignId, ...to }) {
      setCampaign(ctx, campaignId, to);
      return { campaignId, ...to };
    },
  }),

  deleteCampaign: defineAction({
    summary: 'Delete a campaign',
    input: z.strictObject(campaign),
    run(ctx, { campaignId }) {
      setCampaign(ctx, campaignId, { deleted: true });
      return { deleted: campaignId };
    },
  }),

  setLeadStatus: defineAction({
    summary: "A lead's result",
    input: z.strictObject({ leadId: z.int(), status: z.enum(Object.keys(LEAD_LABELS) as [LeadStatus]) }),
    run: (ctx, { leadId, status }) => setLeadStatus(ctx, leadId, status),
  }),
};
