import { createHash } from 'node:crypto';
import type { rescoreStatuses } from '../../partner/contract/job-candidates.ts';
import { type Context, creditsOf, effect, invalidRequest, notFound, refuse, takeCredit } from '../context.ts';
import { stableUuid } from '../random.ts';
import { emit } from './deliveries.ts';
import { type JobCandidate, jobCandidateById } from './job-candidates.ts';
import { findJob, findStage } from './pipelines.ts';
import { schedule } from './tasks.ts';

/** How long a run takes, for any size. */
const RUN_MS = 500;
/** Section 8: candidates per request; without ids the first ones are taken (K6, assumed). */
const MAX_CANDIDATES = 250;

interface RescoreRun {
  id: string;
  jobId: number;
  status: (typeof rescoreStatuses)[number];
  jobCandidateIds: number[];
  totalEligible: number;
  totalRequested: number;
  totalProcessed: number;
  totalFailed: number;
  cappedByCredits: boolean;
  errors: { reason: string; jobCandidateId?: number }[];
}

interface Row extends Omit<RescoreRun, 'jobCandidateIds' | 'cappedByCredits' | 'errors'> {
  jobCandidateIds: string;
  cappedByCredits: number;
  errors: string;
}

const RUN = `select id, job_id as jobId, status, job_candidate_ids as jobCandidateIds, total_eligible as totalEligible,
  total_requested as totalRequested, total_processed as totalProcessed, total_failed as totalFailed,
  capped_by_credits as cappedByCredits, errors
  from rescore_runs`;

/**
 * Queues a run: the job's candidates that are not rejected, of the ids and the stage where given (K5, assumed), as many
 * as there are credits for (K8, assumed). Credits go one by one as people are scored.
 */
export function startRescore(
  ctx: Context,
  input: { jobId: number; jobCandidateIds?: readonly number[] | undefined; stageId?: number | undefined },
): { run: RescoreRun; creditsAvailable: number | undefined } {
  const { state, company, now } = ctx;
  const { pipelineId } = findJob(ctx, input.jobId);
  if (input.stageId !== undefined) requireStage(ctx, input.stageId, pipelineId);
  const wanted = new Set(input.jobCandidateIds);
  const eligible = eligibleOf(ctx, input.jobId, input.stageId).filter((id) => wanted.size === 0 || wanted.has(id));
  const taken = eligible.slice(0, MAX_CANDIDATES);
  const credits = creditsOf(ctx);
  if (taken.length > 0 && credits < 1) throw refuse('INSUFFICIENT_CREDITS', 'No scoring credits left');
  const queued = taken.slice(0, credits);
  const capped = queued.length < taken.length;
  const id = stableUuid(state.seed, 'rescore', state.nextId('rescore'));
  state.run(
    `insert into rescore_runs (id, company_id, job_id, status, job_candidate_ids, total_eligible, total_requested,
      capped_by_credits, created_at)
     values (?, ?, ?, 'queued', ?, ?, ?, ?, ?)`,
    id,
    company.id,
    input.jobId,
    JSON.stringify(queued),
    eligible.length,
    wanted.size === 0 ? eligible.length : wanted.size,
    Number(capped),
    now,
  );
  effect(ctx, 'rescore', id, { queued: queued.length });
  schedule(ctx, 'rescore', RUN_MS, { rescoreId: id });
  return { run: findRescore(ctx, id), creditsAvailable: capped ? credits : undefined };
}

/** 404 when unknown, 403 when another company's (section 7), 400 outside the job's pipeline (K7, assumed). */
function requireStage(ctx: Context, stageId: number, pipelineId: number): void {
  const stage = findStage(ctx, stageId);
  if (stage.pipelineId !== pipelineId)
    throw invalidRequest("The stage is not in the job's pipeline", { stageId: "not of the job's pipeline" });
}

function eligibleOf(ctx: Context, jobId: number, stageId: number | undefined): number[] {
  return ctx.state
    .all<{ id: number }>(
      `select id from job_candidates where company_id = ? and job_id = ? and rejected = 0
        and (? is null or stage_id = ?) order by id`,
      ctx.company.id,
      jobId,
      stageId ?? null,
      stageId ?? null,
    )
    .map(({ id }) => id);
}

/**
 * Scores everybody of the run; people who are gone by then, or for whom no credit is left, count as failed. A run that
 * scored none of its people has failed.
 */
export function finishRescore(ctx: Context, { rescoreId }: { rescoreId: string }): void {
  const { jobCandidateIds } = findRescore(ctx, rescoreId);
  const outcomes = jobCandidateIds.map((id) => ({ jobCandidateId: id, reason: scoreNow(ctx, id, rescoreId) }));
  const errors = outcomes.flatMap(({ reason, jobCandidateId }) =>
    typeof reason === 'string' ? [{ reason, jobCandidateId }] : [],
  );
  const status = errors.length > 0 && errors.length === outcomes.length ? 'failed' : 'completed';
  ctx.state.run(
    'update rescore_runs set status = ?, total_processed = ?, total_failed = ?, errors = ? where id = ?',
    status,
    outcomes.length - errors.length,
    errors.length,
    JSON.stringify(errors),
    rescoreId,
  );
  emit(ctx, 'job.candidates.rescored', tellRescore(findRescore(ctx, rescoreId)));
}

/** 404 when unknown or another company's. */
export function findRescore(ctx: Context, id: string): RescoreRun {
  const row = ctx.state.one<Row>(`${RUN} where id = ? and company_id = ?`, id, ctx.company.id);
  if (row === undefined) throw notFound('Rescore run');
  return {
    ...row,
    jobCandidateIds: JSON.parse(row.jobCandidateIds) as number[],
    cappedByCredits: row.cappedByCredits === 1,
    errors: JSON.parse(row.errors) as RescoreRun['errors'],
  };
}

function tellRescore({ id, jobId, status, jobCandidateIds, ...rest }: RescoreRun): Record<string, unknown> {
  return { jobId, rescoreId: id, status, jobCandidateIds, ...rest };
}

/** Status and the counters of the event (K9, assumed), without its lists. */
export function renderRescore(run: RescoreRun): Record<string, unknown> {
  const { jobCandidateIds: _asListed, errors: _told, ...shown } = tellRescore(run);
  return shown;
}

/** How long the platform thinks about one candidate. */
const SCORING_MS = 300;

/** Scores a job candidate in the background: job.candidate.score.completed or .failed follows (section 6). */
export function scheduleScoring(ctx: Context, jobCandidateId: number): void {
  schedule(ctx, 'score', SCORING_MS, { jobCandidateId });
}

/** Without a credit it fails, and the candidate stays unscored. No event reports candidates removed meanwhile. */
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
function scoreNow(ctx: Context, id: number, round: string): number | 'NOT_FOUND' | 'INSUFFICIENT_CREDITS' {
  const jobCandidate = jobCandidateById(ctx, id);
  if (jobCandidate === undefined) return 'NOT_FOUND';
  if (creditsOf(ctx) < 1) return 'INSUFFICIENT_CREDITS';
  takeCredit(ctx, id, 'scoring');
  return writeScore(ctx, jobCandidate, round);
}

/** Writes the score of a round, without a credit and without an event. */
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
