import type { Context } from '../../context.ts';
import { JOB_CANDIDATE, type JobCandidate } from './job-candidates.ts';

export interface JobCandidateQuery {
  pageNumber: number;
  perPage: number;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
  jobId?: number | undefined;
  stageId?: number | undefined;
  stageType?: string | undefined;
  minScore?: number | undefined;
  maxScore?: number | undefined;
  excludeRejected?: boolean | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
}

/**
 * Each filter is one condition with one value. Membership by type is that of the stage someone is in, whichever
 * pipeline it belongs to. The date range is that of being added to the job; a date without a time counts whole (K1,
 * assumed).
 */
const FILTERS: Record<string, { sql: string; value?: (given: never) => string | number }> = {
  jobId: { sql: 'job_id = ?' },
  stageId: { sql: 'stage_id = ?' },
  stageType: {
    sql: 'stage_id in (select s.id from stages s where s.company_id = job_candidates.company_id and s.type = ?)',
  },
  minScore: { sql: 'score >= ?' },
  maxScore: { sql: 'score <= ?' },
  excludeRejected: { sql: 'rejected < ?', value: (excluded: boolean) => (excluded ? 1 : 2) },
  startDate: { sql: 'added_at >= ?', value: Date.parse },
  endDate: {
    sql: 'added_at <= ?',
    value: (end: string) => Date.parse(end.length === 10 ? `${end}T23:59:59.999Z` : end),
  },
};

/** One page, oldest first unless sorted otherwise. */
export function jobCandidatePage(ctx: Context, query: JobCandidateQuery): { rows: JobCandidate[]; total: number } {
  const used = Object.entries(FILTERS).flatMap(([name, { sql, value }]) => {
    const given = query[name as keyof JobCandidateQuery];
    return given === undefined ? [] : [{ sql, value: value === undefined ? (given as string) : value(given as never) }];
  });
  const where = ['company_id = ?', ...used.map(({ sql }) => sql)].join(' and ');
  const values = [ctx.company.id, ...used.map(({ value }) => value)];
  const direction = query.sortOrder === 'desc' ? 'desc' : 'asc';
  const order = query.sortBy === 'profileMatchScore' ? `score ${direction}, id` : `id ${direction}`;
  const rows = ctx.state.all<JobCandidate>(
    // Sorts ids, not records: a late page of a stage of 50,000 costs a tenth.
    `${JOB_CANDIDATE} where id in (select id from job_candidates where ${where} order by ${order} limit ? offset ?)
     order by ${order}`,
    ...values,
    query.perPage,
    (query.pageNumber - 1) * query.perPage,
  );
  return { rows, total: ctx.state.count('job_candidates', where, ...values) };
}
