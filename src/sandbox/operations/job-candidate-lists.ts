/** Section 4.4: the three listings of job candidates. */
import type { Context } from '../context.ts';
import { candidateText } from '../records/candidates/candidates.ts';
import type { JobCandidate } from '../records/job-candidates/job-candidates.ts';
import { JOB_CANDIDATE, renderJobCandidate } from '../records/job-candidates/job-candidates.ts';
import { findJob } from '../records/jobs/jobs.ts';
import { findStage } from '../records/pipelines/pipelines.ts';
import { type Answer, type OperationTree, successTexts } from './operation.ts';

interface Listing {
  conditions: string[];
  values: (string | number)[];
}

interface Pages {
  pageNumber: number;
  perPage: number;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
}

export const jobCandidateLists = {
  listByJob(ctx, { params, query }) {
    const { id } = findJob(ctx, params.jobId);
    const listing: Listing = { conditions: ['job_id = ?'], values: [id] };
    add(listing, 'score >= ?', query.minScore);
    add(listing, 'score <= ?', query.maxScore);
    add(listing, 'stage_id = ?', query.stageId);
    if (query.excludeRejected === true) listing.conditions.push('rejected = 0');
    return answer(ctx, listing, query, (one) => renderJobCandidate(ctx, one, profileOf(ctx, one)));
  },

  /** Membership by the type of the stage someone is in, whichever pipeline it is of. */
  listByStageType(ctx, { query }) {
    const listing: Listing = {
      conditions: ['stage_id in (select id from stages where company_id = ? and type = ?)'],
      values: [ctx.company.id, query.stageType],
    };
    return answer(ctx, within(listing, query), query, (one) => sideBySide(ctx, one));
  },

  listByStage(ctx, { params, query }) {
    const stage = findStage(ctx, params.stageId);
    const listing: Listing = { conditions: ['stage_id = ?'], values: [stage.id] };
    return answer(ctx, within(listing, query), query, (one) => sideBySide(ctx, one));
  },
} satisfies OperationTree['jobCandidates'];

function add(listing: Listing, condition: string, value: number | undefined): void {
  if (value === undefined) return;
  listing.conditions.push(condition);
  listing.values.push(value);
}

/** The date range is that of being added to the job; a date without time counts whole (K1, assumed). */
function within(
  listing: Listing,
  query: { jobId?: number | undefined; startDate?: string | undefined; endDate?: string | undefined },
): Listing {
  add(listing, 'job_id = ?', query.jobId);
  add(listing, 'added_at >= ?', query.startDate === undefined ? undefined : Date.parse(query.startDate));
  const end = query.endDate;
  add(
    listing,
    'added_at <= ?',
    end === undefined ? undefined : Date.parse(end.length === 10 ? `${end}T23:59:59.999Z` : end),
  );
  return listing;
}

/** One page, oldest first unless sorted otherwise. */
function answer(ctx: Context, listing: Listing, page: Pages, render: (one: JobCandidate) => string): Answer {
  const where = ['company_id = ?', ...listing.conditions].join(' and ');
  const values = [ctx.company.id, ...listing.values];
  const total =
    ctx.state.one<{ n: number }>(`select count(*) as n from job_candidates where ${where}`, ...values)?.n ?? 0;
  const direction = page.sortOrder === 'desc' ? 'desc' : 'asc';
  const order = page.sortBy === 'profileMatchScore' ? `score ${direction}, id` : `id ${direction}`;
  const rows = ctx.state.all<JobCandidate>(
    // Sorts ids, not records: a late page of a stage of 50,000 costs a tenth.
    `${JOB_CANDIDATE} where id in (select id from job_candidates where ${where} order by ${order} limit ? offset ?) order by ${order}`,
    ...values,
    page.perPage,
    (page.pageNumber - 1) * page.perPage,
  );
  return successTexts(rows.map(render), { page: page.pageNumber, perPage: page.perPage, total });
}

/** Three records side by side; the third is not shown by the spec (K16), so null. */
function sideBySide(ctx: Context, one: JobCandidate): string {
  return `{"candidate_details":${profileOf(ctx, one)},"jobCandidateDetails":${renderJobCandidate(ctx, one)},"onboardingFormDetails":null}`;
}

function profileOf(ctx: Context, one: JobCandidate): string {
  return candidateText(ctx, one.candidateId) ?? 'null';
}
