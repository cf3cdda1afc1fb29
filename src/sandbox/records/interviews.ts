import { createHash } from 'node:crypto';
import { type Context, effect, invalidRequest } from '../context.ts';
import { stableUuid } from '../random.ts';
import { flowStepScored, flowStepStarted } from './assessment-flows.ts';
import { findAssessment } from './assessments.ts';
import { emit } from './deliveries.ts';
import {
  findSubmission,
  type Invite,
  inviteOfSubmission,
  resultOf,
  type Submission,
  submissionOf,
  toldOf,
} from './invites.ts';
import { schedule } from './tasks.ts';

/** How long the platform thinks about one interview. */
const SCORING_MS = 400;

/** How an interview ends: whether the platform scores it, and the score if a test sets one. */
interface Scoring {
  scored: boolean;
  score?: number | undefined;
}

/** An invited person begins: interview.started. An invitation is good for one interview. */
export function startInterview(ctx: Context, invite: Invite): Submission {
  const { state, company, now } = ctx;
  const begun = submissionOf(ctx, invite.id);
  if (begun !== undefined) throw notNow('This interview was begun before', begun);
  const seq = state.nextId('submission');
  const id = stableUuid(state.seed, 'submission', seq);
  state.run(
    `insert into submissions (id, company_id, assessment_id, invite_id, seq, status, started_at)
      values (?, ?, ?, ?, ?, 'IN_PROGRESS', ?)`,
    id,
    company.id,
    invite.assessmentId,
    invite.id,
    seq,
    now,
  );
  effect(ctx, 'interview', id);
  const submission = findSubmission(ctx, id);
  emit(ctx, 'interview.started', { assessmentId: invite.assessmentId, ...toldOf(invite, submission) });
  flowStepStarted(ctx, invite);
  return submission;
}

/**
 * The candidate closes the interview without finishing it. With resumes left nothing is due yet; otherwise it has timed
 * out, and is scored as it is (section 4.6; A24, assumed).
 */
export function leaveInterview(ctx: Context, id: string, scoring: Scoring): Submission {
  const submission = inProgress(ctx, id);
  const { resumeAllowed, maxResumeCount } = findAssessment(ctx, submission.assessmentId).fields;
  const mayResume = resumeAllowed && submission.resumesUsed < (maxResumeCount ?? 0);
  return mayResume ? setStatus(ctx, id, 'PAUSED') : end(ctx, id, 'TIMED_OUT', scoring);
}

/**
 * The interview breaks off by itself: an event that section 6 does not name (INTERVIEW_ERROR, assumed), then as if the
 * candidate had left it.
 */
export function breakInterview(ctx: Context, id: string, scoring: Scoring): Submission {
  const submission = inProgress(ctx, id);
  const told = toldOf(inviteOfSubmission(ctx, submission), submission);
  emit(ctx, 'interview.error', { assessmentId: submission.assessmentId, ...told, error: 'CONNECTION_LOST' });
  return leaveInterview(ctx, id, scoring);
}

/** The candidate comes back, at most maxResumeCount times. */
export function resumeInterview(ctx: Context, id: string): Submission {
  const submission = findSubmission(ctx, id);
  if (submission.status !== 'PAUSED') throw notNow('Only a paused interview can be resumed', submission);
  ctx.state.run('update submissions set resumes_used = resumes_used + 1 where id = ?', id);
  return setStatus(ctx, id, 'IN_PROGRESS');
}

/** The candidate does not come back in time: the interview ends where it was left, and is scored as it is. */
export function timeOutInterview(ctx: Context, id: string, scoring: Scoring): Submission {
  const submission = findSubmission(ctx, id);
  if (submission.endedAt !== null) throw notNow('The interview has ended', submission);
  return end(ctx, id, 'TIMED_OUT', scoring);
}

/** The candidate answers the last question. */
export function finishInterview(ctx: Context, id: string, scoring: Scoring): Submission {
  inProgress(ctx, id);
  return end(ctx, id, 'COMPLETED', scoring);
}

function end(ctx: Context, id: string, status: Submission['status'], { scored, score }: Scoring): Submission {
  ctx.state.run('update submissions set ended_at = ? where id = ?', ctx.now, id);
  const submission = setStatus(ctx, id, status);
  const invite = inviteOfSubmission(ctx, submission);
  emit(ctx, 'interview.ended', {
    assessmentId: submission.assessmentId,
    ...toldOf(invite, submission),
    externalRef: invite.externalRef,
  });
  if (scored) schedule(ctx, 'score-interview', SCORING_MS, { submissionId: id, score });
  return submission;
}

/** Scores an ended interview once: interview.scoring_completed (E6, assumed: flat), and its assessment flow goes on. */
export function scoreInterview(ctx: Context, task: { submissionId: string; score?: number | undefined }): Submission {
  const before = findSubmission(ctx, task.submissionId);
  if (before.endedAt === null) throw notNow('The interview has not ended', before);
  if (before.scoredAt !== null) return before;
  const score = task.score ?? scoreFor(ctx, before.id);
  ctx.state.run('update submissions set score = ?, scored_at = ? where id = ?', score, ctx.now, before.id);
  effect(ctx, 'interview-scored', before.id, { score });
  const submission = findSubmission(ctx, before.id);
  const invite = inviteOfSubmission(ctx, submission);
  emit(ctx, 'interview.scoring_completed', {
    assessmentId: submission.assessmentId,
    ...toldOf(invite, submission),
    externalRef: invite.externalRef,
    ...resultOf(findAssessment(ctx, submission.assessmentId), submission),
  });
  flowStepScored(ctx, invite, score);
  return submission;
}

/** The same interview always gets the same score. */
function scoreFor(ctx: Context, id: string): number {
  const [byte = 0] = createHash('sha256')
    .update(`${String(ctx.state.seed)}/${id}`)
    .digest();
  return 30 + (byte % 71);
}

function inProgress(ctx: Context, id: string): Submission {
  const submission = findSubmission(ctx, id);
  if (submission.status !== 'IN_PROGRESS') throw notNow('The interview is not under way', submission);
  return submission;
}

function notNow(message: string, { status }: Submission): Error {
  return invalidRequest(message, { submissionId: `is ${status}` });
}

function setStatus(ctx: Context, id: string, status: Submission['status']): Submission {
  ctx.state.run('update submissions set status = ? where id = ?', status, id);
  return findSubmission(ctx, id);
}
