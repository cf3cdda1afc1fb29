import type { Context } from '../context.ts';
import { createRandom, type Random } from '../random.ts';
import type { Candidate } from '../records/candidates/candidates.ts';
import { OWN_RESUME } from '../records/candidates/own-resumes.ts';
import { addToJob, type JobCandidate, jobCandidateIdsIn } from '../records/job-candidates/job-candidates.ts';
import { writeScore } from '../records/job-candidates/scoring.ts';
import { type Job, setJobStatus } from '../records/jobs/jobs.ts';
import { defaultPipeline, stageOfType } from '../records/pipelines/pipelines.ts';
import { seededForm } from './applications.ts';
import { seedBookings } from './bookings.ts';
import { seedCampaigns } from './campaigns.ts';
import { seedCustomFields } from './custom-fields.ts';
import { seedInterviews } from './interviews.ts';
import { seedMoreOffers } from './offers.ts';

/** From so many people on a company looks as if it had been at work for two years. */
const RICH_FROM = 30;
const SPAN_MS = 730 * 86_400_000;
/** Enough jobs for some to be drafts and some to be closed. */
const JOBS_ENOUGH = 6;
/** Each kind of event has happened to so many people, and so many have custom fields filled. */
const SOME = 24;
const FILLED = 500;
/** How many of a stage came through the hosted page; of later stages every second. */
const APPLIED_SHARE: Record<string, number> = { SOURCED: 0, APPLIED: 0.9 };

/** What a company has besides people on jobs. Its chance is its own: who there is, and where, stays the same. */
export interface Richness {
  random: Random;
  jobs: number;
}

/** Undefined for a company with few people, which tests count one by one. */
export function richnessOf(
  seed: number,
  { candidates = 0, jobs = 0 }: { candidates?: number | undefined; jobs?: number | undefined },
): Richness | undefined {
  return candidates < RICH_FROM ? undefined : { random: createRandom(seed), jobs };
}

/** When the nth of so many came: one after another for two years. */
export function cameAt(ctx: Context, n: number, count: number): Context {
  return { ...ctx, now: Math.floor(ctx.now - SPAN_MS * (1 - (n + 1) / count)) };
}

/** Drafts take nobody in. */
export function seededStatus({ jobs }: Richness, n: number): { status: 'DRAFT' | 'ACTIVE' } {
  return { status: jobs >= JOBS_ENOUGH && n % 5 === 4 ? 'DRAFT' : 'ACTIVE' };
}

/** Seven in ten left a resume. */
export function seededResume({ random }: Richness): { resume?: string } {
  return random() < 0.7 ? { resume: OWN_RESUME } : {};
}

/** Puts a person into a job, as soon as there was one: most have applied, and most of those are scored. */
export function addApplicant(
  ctx: Context,
  { random }: Richness,
  { person, job, stageType }: { person: Candidate; job: Job; stageType: string },
): JobCandidate {
  const then = { ...ctx, now: Math.max(ctx.now, job.createdAt) };
  const hasApplied = random() < (APPLIED_SHARE[stageType] ?? 0.5);
  const added = addToJob(then, person.id, job, stageType, hasApplied ? seededForm(then, random, person) : undefined);
  if (stageType !== 'SOURCED' && random() < 0.8) writeScore(then, added, '');
  return added;
}

/** What happened to the first people of each stage, and what the company made besides. */
export function seedEvents(
  ctx: Context,
  richness: Richness,
  { jobs, jobIds, candidateIds }: { jobs: readonly Job[]; jobIds: readonly number[]; candidateIds: readonly number[] },
): void {
  const inStage = (type: string): number[] => {
    const stage = stageOfType(ctx, defaultPipeline(ctx).id, type);
    return stage === undefined ? [] : jobCandidateIdsIn(ctx, stage.id).slice(0, SOME);
  };
  seedCustomFields(ctx, richness.random, { candidateIds: candidateIds.slice(0, FILLED), jobIds });
  seedInterviews(ctx, inStage('ASSESSMENT'));
  seedBookings({ ...ctx, now: ctx.state.clock.now() }, inStage('SCREEN'));
  seedMoreOffers(ctx, inStage('SHORTLISTED'));
  seedCampaigns(ctx, candidateIds);
  if (richness.jobs < JOBS_ENOUGH) return;
  for (const { id } of jobs.filter((_job, n) => n % 4 === 3)) setJobStatus(ctx, id, 'INACTIVE');
}
