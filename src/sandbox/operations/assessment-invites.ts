/** Section 4.6: invitations to an assessment and what came of them. */
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { fileUrl } from '../file-urls.ts';
import { findAssessment, findAssessmentToChange } from '../records/assessments/assessments.ts';
import { findBatch, renderBatch, startBatch } from '../records/assessments/invite-batches.ts';
import { invite } from '../records/assessments/invites.ts';
import {
  findSubmission,
  listSubmitted,
  renderSubmission,
  type Submission,
} from '../records/assessments/submissions.ts';
import { sharePageUrl } from '../share-page.ts';
import { type OperationTree, success } from './operation.ts';

export const assessmentInvites = {
  /** The link goes out by e-mail and is never returned. */
  invite(ctx, { params, body }) {
    const invited = invite(ctx, findAssessmentToChange(ctx, params.assessmentId), body);
    const { assessmentId, jobCandidateId, firstName, lastName, email, invitedAt } = invited;
    const data = { assessmentId, jobCandidateId, firstName, lastName, emailAddress: email, invitedAt };
    return success(data, { message: 'Invitation sent' });
  },

  inviteBulk(ctx, { params, body }) {
    const batch = startBatch(ctx, findAssessmentToChange(ctx, params.assessmentId), body.candidates);
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
