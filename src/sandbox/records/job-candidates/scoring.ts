import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { emit } from '../../events.ts';
import { schedule } from '../platform/tasks.ts';
import { creditsOf, takeCredit } from '../workspace/credits.ts';
import { type JobCandidate, jobCandidateById } from './job-candidates.ts';

/** How long the platform thinks about one candidate. */
const SCORING_MS = 300;

/** Scores a job candidate in the background: job.candidate.score.completed or .failed follows (section 6). */
export function scheduleScoring(ctx: Context, jobCandidateId: number): void {
  schedule(ctx, 'score', SCORING_MS, { jobCandidateId });
}

/** Without a credit it fails, and the candidate stays unscored. Whoever was removed meanwhile is not told of. */
export function scoreJobCandidate(ctx: Context, { jobCandidateId }: { jobCandidateId: number }): void {
  const jobCandidate = jobCandidateById(ctx, jobCandidateId);
  if (jobCandidate === undefined) return;
  const ids = { jobId: jobCandidate.jobId, jobCandidateId, candidateId: jobCandidate.candidateId };
  const score = scoreNow(ctx, jobCandidateId, '');
  if (typeof score === 'number') emit(ctx, 'job.candidate.score.completed', { ...ids, score });
  else emit(ctx, 'job.candidate.score.failed', { ...ids, error: score });
}

/**
 * One scoring costs one credit. The score, or why there is none. The same person gets the same score in the same
 * `round` of scoring (the first, or the id of a rescore run).
 */
export function scoreNow(ctx: Context, id: number, round: string): number | 'NOT_FOUND' | 'INSUFFICIENT_CREDITS' {
  const jobCandidate = jobCandidateById(ctx, id);
  if (jobCandidate === undefined) return 'NOT_FOUND';
  if (creditsOf(ctx) < 1) return 'INSUFFICIENT_CREDITS';
  takeCredit(ctx, id, 'scoring');
  return writeScore(ctx, jobCandidate, round);
}

/** Writes the score of a round, without a credit and without telling anybody. */
export function writeScore(ctx: Context, { id, body: before }: JobCandidate, round: string): number {
  const bytes = createHash('sha256')
    .update(`${String(ctx.state.seed)}/${String(id)}${round}`)
    .digest();
  const [skills, experience, education] = [bytes[0], bytes[1], bytes[2]].map((byte) => 40 + ((byte ?? 0) % 61)) as [
    number,
    number,
    number,
  ];
  const score = Math.round((skills + experience + education) / 3);
  const body = {
    ...(JSON.parse(before) as object),
    criteriaMatches: { skills, experience, education },
    recommendToRecruitingFirm: score >= 75,
    aiSummary: `Matches ${String(score)} % of the job's criteria.`,
  };
  ctx.state.run('update job_candidates set score = ?, body = ? where id = ?', score, JSON.stringify(body), id);
  return score;
}
