import { type Context, refuse, takeCredit } from '../context.ts';
import { fileUrl } from '../file-urls.ts';
import {
  assign,
  createAssessmentFlow,
  findAssessmentFlow,
  listAssessmentFlows,
  listFlowCandidates,
  renderAssessmentFlow,
  renderFlowCandidate,
  updateAssessmentFlow,
} from '../records/assessment-flows.ts';
import {
  type Assessment,
  addQuestion,
  askGenerator,
  bucketsOf,
  createAssessment,
  derivedFields,
  findAssessment,
  findAssessmentToChange,
  listAssessments,
  removeQuestion,
  renderAssessment,
  renderAssessmentInFull,
  renderQuestion,
  scheduleQuestions,
  updateAssessment,
  updateQuestion,
} from '../records/assessments.ts';
import {
  personOf as bookedPersonOf,
  findSchedule,
  freeSlots,
  instantIn,
  listSchedules,
  renderLocation,
  renderSchedule,
  renderSlot,
} from '../records/booking-schedules.ts';
import { book, linkFor, listBookings, renderBooking, renderLink } from '../records/bookings.ts';
import {
  addLeads,
  createCampaign,
  findCampaign,
  linkedSites,
  listCampaigns,
  listLeads,
  renderCampaign,
  renderLead,
} from '../records/campaigns.ts';
import {
  findBatch,
  findSubmission,
  invite,
  listSubmitted,
  personOf,
  renderBatch,
  renderSubmission,
  type Submission,
  startBatch,
} from '../records/invites.ts';
import { findJob } from '../records/pipelines.ts';
import { sharePageUrl } from '../share-page.ts';
import { confirmation, limitPagination, type OperationTree, success } from './operation.ts';

const assessmentInvites = {
  /** The link goes out by e-mail and is never returned. */
  invite(ctx, { params, body }) {
    const invited = invite(ctx, findAssessmentToChange(ctx, params.assessmentId), body);
    const { assessmentId, jobCandidateId, firstName, lastName, email, invitedAt } = invited;
    const data = { assessmentId, jobCandidateId, firstName, lastName, emailAddress: email, invitedAt };
    return success(data, { message: 'Invitation sent' });
  },

  inviteBulk(ctx, { params, body }) {
    const assessment = findAssessmentToChange(ctx, params.assessmentId);
    // Section 4.6 names no credit for an invitation (A17), and does not say that it costs none.
    if (ctx.state.quirks.has('invitations-cost'))
      for (const _each of body.candidates) takeCredit(ctx, assessment.id, 'an invitation');
    const batch = startBatch(ctx, assessment, body.candidates);
    return success({ batchId: batch.id, totalCount: body.candidates.length });
  },

  getInviteBatch(ctx, { params }) {
    findAssessment(ctx, params.assessmentId);
    return success(renderBatch(findBatch(ctx, params.assessmentId, params.batchId)));
  },

  listCandidates(ctx, { params, query: { pageNumber, perPage } }) {
    findAssessment(ctx, params.assessmentId);
    const { submissions, total } = listSubmitted(ctx, params.assessmentId, { number: pageNumber, size: perPage });
    return success(
      submissions.map((one) => renderSubmission(ctx, one)),
      { pagination: { page: pageNumber, perPage, total } },
    );
  },

  getReport(ctx, { params }) {
    const { id } = findScored(ctx, params);
    return success({ submissionId: id, reportUrl: fileUrl(ctx, 'interview-report', id) });
  },

  getShareLink(ctx, { params }) {
    const { id } = findScored(ctx, params);
    return success({ submissionId: id, shareUrl: sharePageUrl(ctx.state, id) });
  },
} satisfies OperationTree['assessments'];

/** 409 until scoring is completed; the share link waits for it too (A15, assumed). */
function findScored(ctx: Context, of: { assessmentId: string; submissionId: string }): Submission {
  findAssessment(ctx, of.assessmentId);
  const submission = findSubmission(ctx, of.submissionId, of.assessmentId);
  if (submission.scoredAt === null) throw refuse('REPORT_NOT_READY', 'The interview has not been scored yet');
  return submission;
}

export const assessments = {
  list(ctx, { query: { pageNumber, perPage } }) {
    const page = listAssessments(ctx, { number: pageNumber, size: perPage });
    return success({
      assessments: page.assessments.map((one) => renderAssessment(ctx, one)),
      pagination: limitPagination(pageNumber, perPage, page.total),
    });
  },

  /**
   * maxResumeCount without resumeAllowed is left out (A12, assumed); what the API makes are audio interviews (A21,
   * assumed).
   */
  createAudioInterview(ctx, { body }) {
    const { title, jobId, status, buckets, resumeAllowed = false, maxResumeCount, ...rest } = body;
    const fields = {
      testName: title,
      assessmentType: 'AI_AUDIO_INTERVIEW',
      ...rest,
      buckets: bucketsOf(buckets),
      resumeAllowed,
      maxResumeCount: resumeAllowed ? (maxResumeCount ?? null) : null,
    };
    return created(ctx, createAssessment(ctx, { fields, jobId, status }), 'Assessment created');
  },

  get: (ctx, { params }) => success(renderAssessmentInFull(ctx, findAssessment(ctx, params.assessmentId))),

  update(ctx, { params, body }) {
    const { title, language, purpose, aiLanguage = language, purposeOfInterview = purpose, ...rest } = body;
    const fields = { testName: title, aiLanguage, purposeOfInterview, ...rest };
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const updated = updateAssessment(ctx, params.assessmentId, { fields: Object.fromEntries(given) });
    return success(renderAssessmentInFull(ctx, updated));
  },

  addQuestion: (ctx, { params, body }) => success(renderQuestion(addQuestion(ctx, params.assessmentId, body))),

  updateQuestion: (ctx, { params, body }) =>
    success(renderQuestion(updateQuestion(ctx, params.assessmentId, params.questionId, body))),

  removeQuestion(ctx, { params }) {
    findAssessmentToChange(ctx, params.assessmentId);
    removeQuestion(ctx, params.assessmentId, params.questionId);
    return confirmation('Question deleted');
  },

  autoGenerate(ctx, { body }) {
    const { jobId, ...asked } = body;
    const job = jobId === undefined ? undefined : findJob(ctx, jobId);
    const assessment = createAssessment(ctx, { fields: derivedFields(asked, job), jobId });
    askGenerator(ctx);
    scheduleQuestions(ctx, assessment.id);
    return created(ctx, assessment, 'Assessment created; its questions are being generated');
  },

  generateQuestions(ctx, { params, body }) {
    askGenerator(ctx);
    takeCredit(ctx, params.assessmentId, 'question generation');
    scheduleQuestions(ctx, params.assessmentId, (body.skills ?? []).join(' and '));
    return confirmation('Questions are being generated');
  },

  ...assessmentInvites,
} satisfies OperationTree['assessments'];

/** Credits are the last check (G26, assumed): without one nothing is stored. */
function created(ctx: Context, assessment: Assessment, message: string) {
  takeCredit(ctx, assessment.id, 'an assessment');
  return success(renderAssessmentInFull(ctx, assessment), { message });
}

export const assessmentFlows = {
  list: (ctx) => success(listAssessmentFlows(ctx).map((flow) => renderAssessmentFlow(ctx, flow))),

  create(ctx, { body }) {
    const { id, name, companyId, status } = createAssessmentFlow(ctx, body);
    return success({ id, flowName: name, companyId, status });
  },

  update: (ctx, { params, body }) => success(renderAssessmentFlow(ctx, updateAssessmentFlow(ctx, params.id, body))),

  get: (ctx, { params }) => success(renderAssessmentFlow(ctx, findAssessmentFlow(ctx, params.id))),

  /** pageSize wins over perPage (L6, assumed). */
  listCandidates(ctx, { params, query }) {
    findAssessmentFlow(ctx, params.id);
    const { page, status, search } = query;
    const perPage = query.pageSize ?? query.perPage;
    const { candidates, total } = listFlowCandidates(
      ctx,
      params.id,
      { status, search },
      { number: page, size: perPage },
    );
    return success(candidates.map(renderFlowCandidate), { pagination: { page, perPage, total } });
  },

  assign(ctx, { params, body: { email, jobId, talentId, ...invitee } }) {
    const flow = findAssessmentFlow(ctx, params.id);
    if (ctx.state.quirks.has('invitations-cost')) takeCredit(ctx, flow.id, 'an invitation');
    if (jobId !== undefined) findJob(ctx, jobId);
    const { candidate, isNew } = assign(ctx, flow, personOf(ctx, { ...invitee, emailAddress: email }), {
      jobId,
      talentId,
    });
    return success({
      message: isNew ? 'Candidate assigned' : 'Candidate was assigned before',
      flowCandidateId: candidate.id,
      firstStepAssessmentId: flow.steps[0]?.assessmentId ?? null,
    });
  },
} satisfies OperationTree['assessmentFlows'];

export const bookingSchedules = {
  list: (ctx, { query: { scheduleProfile, bookingMode } }) =>
    success(listSchedules(ctx, scheduleProfile ?? null, bookingMode ?? null).map(renderSchedule)),

  get: (ctx, { params }) => success(renderSchedule(findSchedule(ctx, params.bookingScheduleId))),

  listSlots(ctx, { params, query }) {
    const schedule = findSchedule(ctx, params.bookingScheduleId);
    const slots = freeSlots(ctx, schedule, instantIn(schedule, query.from), instantIn(schedule, query.to));
    return success(slots.map(renderSlot));
  },

  listLocations: (ctx, { params }) =>
    success(findSchedule(ctx, params.bookingScheduleId).locations.map(renderLocation)),

  listQuestions: (ctx, { params }) => success(findSchedule(ctx, params.bookingScheduleId).questions),

  createLink(ctx, { params, body: { expiresInHours, ...entity } }) {
    return success(renderLink(ctx, linkFor(ctx, findSchedule(ctx, params.bookingScheduleId), entity, expiresInHours)));
  },

  createBooking(ctx, { params, body }) {
    const schedule = findSchedule(ctx, params.bookingScheduleId);
    bookedPersonOf(ctx, body);
    return success(renderBooking(book(ctx, schedule, body)));
  },
} satisfies OperationTree['bookingSchedules'];

export const bookings = {
  list: (ctx, { query }) =>
    success(listBookings(ctx, query.entityType ?? null, query.bookingLinkId ?? null).map(renderBooking)),
} satisfies OperationTree['bookings'];

export const sites = {
  list: (ctx) => ({ body: { sites: linkedSites(ctx) } }),
} satisfies OperationTree['sites'];

export const campaigns = {
  list(ctx, { query: { page, limit, ...filters } }) {
    const found = listCampaigns(ctx, filters, limit, (page - 1) * limit);
    const shown = found.campaigns.map((one) => renderCampaign(one, false));
    return { body: { campaigns: shown, pagination: limitPagination(page, limit, found.total) } };
  },

  get: (ctx, { params }) => ({ body: { campaign: renderCampaign(findCampaign(ctx, params.campaignId), true) } }),

  create: (ctx, { body }) => ({ body: { campaign: renderCampaign(createCampaign(ctx, body), true) } }),

  addLeads(ctx, { params, body }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: addLeads(ctx, id, body.leads).map(({ leadId }) => ({ leadId })) } };
  },

  listLeads(ctx, { params }) {
    const { id } = findCampaign(ctx, params.campaignId);
    return { body: { leads: listLeads(ctx, id).map(renderLead) } };
  },
} satisfies OperationTree['campaigns'];
