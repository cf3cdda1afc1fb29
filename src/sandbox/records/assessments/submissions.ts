import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import type { SandboxState } from '../../state.ts';
import type { Assessment } from './assessments.ts';
import { findAssessment } from './assessments.ts';
import { INVITE, type Invite } from './invites.ts';

/** One interview taken on an invitation; its states are not shown (SUBMISSION, assumed). */
export interface Submission {
  id: string;
  assessmentId: string;
  inviteId: number;
  status: 'IN_PROGRESS' | 'PAUSED' | 'COMPLETED' | 'TIMED_OUT';
  resumesUsed: number;
  score: number | null;
  startedAt: number;
  endedAt: number | null;
  scoredAt: number | null;
}

const SUBMISSION = `select id, assessment_id as assessmentId, invite_id as inviteId, status,
  resumes_used as resumesUsed, score,
  started_at as startedAt, ended_at as endedAt, scored_at as scoredAt from submissions`;

/** 404 when unknown, another company's, or of another assessment than the one given (A15, assumed). */
export function findSubmission(ctx: Context, id: string, assessmentId?: string): Submission {
  const found = ctx.state.one<Submission>(`${SUBMISSION} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined || (assessmentId !== undefined && found.assessmentId !== assessmentId))
    throw notFound('Submission');
  return found;
}

export function submissionOf(ctx: Context, inviteId: number): Submission | undefined {
  return ctx.state.one<Submission>(`${SUBMISSION} where invite_id = ?`, inviteId);
}

export function inviteOfSubmission(ctx: Context, submission: Submission): Invite {
  return ctx.state.one<Invite>(`${INVITE} where id = ?`, submission.inviteId) as Invite;
}

/** Whose submission it is, before a company is known: the result page is opened without a key. */
export function companyOfSubmission(state: SandboxState, id: string): number | undefined {
  return state.one<{ id: number }>('select company_id as id from submissions where id = ?', id)?.id;
}

/** Those who submitted or timed out, in the order they began. */
export function listSubmitted(
  ctx: Context,
  assessmentId: string,
  page: { number: number; size: number },
): { submissions: Submission[]; total: number } {
  const where = "assessment_id = ? and status in ('COMPLETED', 'TIMED_OUT')";
  const total = ctx.state.count('submissions', where, assessmentId);
  const submissions = ctx.state.all<Submission>(
    `${SUBMISSION} where ${where} order by seq limit ? offset ?`,
    assessmentId,
    page.size,
    (page.number - 1) * page.size,
  );
  return { submissions, total };
}

/** Who takes the interview: the name is that of the invitation (A23, assumed). */
export function toldOf(invite: Invite, submission: Submission): Record<string, unknown> {
  return {
    submissionId: submission.id,
    interviewStatus: submission.status,
    firstName: invite.firstName,
    lastName: invite.lastName,
    email: invite.email,
    jobCandidateId: invite.jobCandidateId,
  };
}

export interface InterviewResult {
  score: number | null;
  bucket: string | null;
  bucketStatus: string | null;
  cefrLevel: string | null;
}

/** The score falls into the buckets from the best to the worst, in equal parts; null until scored. */
export function resultOf({ fields }: Assessment, { id, score }: Submission): InterviewResult {
  if (score === null) return { score: null, bucket: null, bucketStatus: null, cefrLevel: null };
  const { buckets } = fields;
  const bucket = buckets[Math.min(buckets.length - 1, Math.floor(((100 - score) / 100) * buckets.length))];
  const level = ['A2', 'B1', 'B2', 'C1'][Number.parseInt(id.slice(0, 2), 16) % 4];
  return {
    score,
    bucket: bucket?.name ?? null,
    bucketStatus: bucket?.status ?? null,
    cefrLevel: fields.shouldEvaluateCEFR ? (level ?? null) : null,
  };
}

/** An entry of the assessment's candidates. */
export function renderSubmission(ctx: Context, submission: Submission): Record<string, unknown> {
  const { startedAt, endedAt, scoredAt } = submission;
  const invite = inviteOfSubmission(ctx, submission);
  return {
    ...toldOf(invite, submission),
    externalRef: invite.externalRef,
    ...resultOf(findAssessment(ctx, submission.assessmentId), submission),
    startedAt,
    endedAt,
    scoredAt,
  };
}
