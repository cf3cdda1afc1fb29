import type { Context } from '../../context.ts';
import { iso } from '../../context.ts';
import type { FileText } from '../platform/file-text.ts';
import { findAssessment } from './assessments.ts';
import { findSubmission, inviteOfSubmission, resultOf } from './submissions.ts';

/** The result PDF of a scored interview. */
export function interviewReport(ctx: Context, submissionId: string): FileText {
  const submission = findSubmission(ctx, submissionId);
  const assessment = findAssessment(ctx, submission.assessmentId);
  const { firstName, lastName, email } = inviteOfSubmission(ctx, submission);
  const { score, bucket, cefrLevel } = resultOf(assessment, submission);
  return {
    title: `Interview report: ${assessment.fields.testName.slice(0, 80)}`,
    lines: [
      [firstName, lastName].filter((name) => name !== null).join(' ') || email,
      `Role: ${assessment.fields.hiringForRole.slice(0, 80)}`,
      `Ended: ${submission.endedAt === null ? '' : iso(submission.endedAt)}`,
      `Score: ${String(score)} of 100`,
      `Bucket: ${String(bucket)}`,
      ...(cefrLevel === null ? [] : [`CEFR level: ${cefrLevel}`]),
    ],
  };
}
