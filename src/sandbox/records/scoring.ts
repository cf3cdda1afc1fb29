import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { effect } from '../context.ts';
import { emit } from '../events.ts';
import { schedule } from '../tasks.ts';
import { updateCompany } from './companies.ts';
import { jobCandidateById } from './job-candidates.ts';

/** How long the platform thinks about one candidate. */
const SCORING_MS = 300;

/** Scores a job candidate in the background: job.candidate.score.completed or .failed follows (section 6). */
export function scheduleScoring(ctx: Context, jobCandidateId: number): void {
  schedule(ctx, 'score', SCORING_MS, { jobCandidateId });
}

/** One scoring costs one credit; without one it fails, and the candidate stays unscored. */
export function scoreJobCandidate(ctx: Context, { jobCandidateId }: { jobCandidateId: number }): void {
  const jobCandidate = jobCandidateById(ctx, jobCandidateId);
  if (jobCandidate === undefined) return;
  const ids = { jobId: jobCandidate.jobId, jobCandidateId, candidateId: jobCandidate.candidateId };
  if (ctx.company.credits < 1) {
    emit(ctx, 'job.candidate.score.failed', { ...ids, error: 'INSUFFICIENT_CREDITS' });
    return;
  }
  updateCompany(ctx.state, ctx.company.id, { credits: ctx.company.credits - 1 });
  effect(ctx, 'credit', jobCandidateId, { for: 'scoring' });
  const score = writeScore(ctx, jobCandidateId, jobCandidate.body);
  emit(ctx, 'job.candidate.score.completed', { ...ids, score });
}

/** The same person and job always get the same score. */
function writeScore(ctx: Context, id: number, before: string): number {
  const bytes = createHash('sha256')
    .update(`${String(ctx.state.seed)}/${String(id)}`)
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
