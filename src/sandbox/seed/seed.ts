import type { Context } from '../context.ts';
import { createRandom } from '../random.ts';
import { createCandidate } from '../records/candidates/candidates.ts';
import type { JobCandidate } from '../records/job-candidates/job-candidates.ts';
import { addToJob } from '../records/job-candidates/job-candidates.ts';
import type { Job } from '../records/jobs/jobs.ts';
import { createJob, listJobs } from '../records/jobs/jobs.ts';
import { seedOutcomes } from './assessments.ts';
import { seedOffers } from './offers.ts';
import { job, person } from './people.ts';

export interface SeedOrder {
  jobs?: number | undefined;
  /** People spread over the company's jobs and their stages before HIRED; without jobs they are profiles only. */
  candidates?: number | undefined;
  /** People hired before anyone was watching. */
  hired?: number | undefined;
}

export interface Seeded {
  jobIds: number[];
  /** Ids of at most the first 1,000 of each kind. */
  candidateIds: number[];
  jobCandidateIds: number[];
  hiredJobCandidateIds: number[];
}

const SHOWN = 1000;
const EARLY_STAGES = ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED'] as const;
const DAY_MS = 86_400_000;

/**
 * Fills a company, silently: no events, the same for the same seed. The caller's transaction makes 100,000 people a
 * matter of seconds.
 */
export function seedCompany(ctx: Context, order: SeedOrder): Seeded {
  const nth = ctx.state.nextId(`seeding-${String(ctx.company.id)}`);
  const random = createRandom(ctx.state.seed * 7919 + ctx.company.id * 31 + nth);
  const quiet: Context = { ...ctx, now: ctx.now - 30 * DAY_MS, origin: 'seed' };
  const result: Seeded = { jobIds: [], candidateIds: [], jobCandidateIds: [], hiredJobCandidateIds: [] };
  for (let n = 0; n < (order.jobs ?? 0); n += 1) result.jobIds.push(createJob(quiet, job(random, n)).id);
  const jobs = jobsOf(quiet);
  for (let n = 0; n < (order.candidates ?? 0); n += 1) {
    const stage = EARLY_STAGES[Math.floor(random() ** 2 * EARLY_STAGES.length)] ?? 'SOURCED';
    note(
      result,
      'jobCandidateIds',
      addPerson(quiet, person(random, ctx.state.nextId('person')), jobs, n, stage, result),
    );
  }
  for (let n = 0; n < (order.hired ?? 0) && jobs.length > 0; n += 1) {
    const longAgo = { ...quiet, now: quiet.now - Math.floor(random() * 700) * DAY_MS };
    note(
      result,
      'hiredJobCandidateIds',
      addPerson(longAgo, person(random, ctx.state.nextId('person')), jobs, n, 'HIRED', result),
    );
  }
  if (nth === 1) seedOutcomes(quiet, { jobs, jobCandidateIds: result.jobCandidateIds });
  if (nth === 1) seedOffers(quiet, result.jobCandidateIds);
  return result;
}

function addPerson(
  ctx: Context,
  profile: Record<string, unknown> & { email: string },
  jobs: readonly Job[],
  n: number,
  stageType: string,
  result: Seeded,
): JobCandidate | undefined {
  const { id } = createCandidate(ctx, profile);
  if (result.candidateIds.length < SHOWN) result.candidateIds.push(id);
  const job = jobs[n % jobs.length];
  return job === undefined ? undefined : addToJob(ctx, id, job, stageType);
}

function note(
  result: Seeded,
  key: 'jobCandidateIds' | 'hiredJobCandidateIds',
  jobCandidate: JobCandidate | undefined,
): void {
  if (jobCandidate !== undefined && result[key].length < SHOWN) result[key].push(jobCandidate.id);
}

function jobsOf(ctx: Context): Job[] {
  return listJobs(ctx, { status: 'ACTIVE', perPage: 1000, pageNumber: 1 }).jobs.reverse();
}
