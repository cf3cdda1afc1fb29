/** Section 4.6: assessments and their questions. Invitations and results stand in assessment-invites.ts. */
import type { Context } from '../context.ts';
import {
  addQuestion,
  removeQuestion,
  renderQuestion,
  updateQuestion,
} from '../records/assessments/assessment-questions.ts';
import type { Assessment } from '../records/assessments/assessments.ts';
import {
  bucketsOf,
  createAssessment,
  findAssessment,
  findAssessmentToChange,
  listAssessments,
  renderAssessment,
  renderAssessmentInFull,
  updateAssessment,
} from '../records/assessments/assessments.ts';
import { askGenerator, derivedFields, scheduleQuestions } from '../records/assessments/question-generator.ts';
import { findJob } from '../records/jobs/jobs.ts';
import { takeCredit } from '../records/workspace/credits.ts';
import { assessmentInvites } from './assessment-invites.ts';
import { confirmation, limitPagination, type OperationTree, success } from './operation.ts';

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

/** Credits are the last check (G26, assumed): without one nothing of it stays. */
function created(ctx: Context, assessment: Assessment, message: string) {
  takeCredit(ctx, assessment.id, 'an assessment');
  return success(renderAssessmentInFull(ctx, assessment), { message });
}
