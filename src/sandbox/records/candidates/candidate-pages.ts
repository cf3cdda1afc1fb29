import type { Context } from '../../context.ts';
import { findJobCandidate, jobCandidateIdsOf, renderJobCandidate } from '../job-candidates/job-candidates.ts';
import { candidateIds } from './candidates.ts';

export interface CandidateQuery {
  pageNumber: number;
  perPage: number;
  includeJobApplicationDetails: boolean;
  skills?: string[] | undefined;
  jobIds?: number[] | undefined;
  stageIds?: number[] | undefined;
  groupIds?: string[] | undefined;
  candidateEmail?: string | undefined;
  phone?: string | undefined;
  currentJobTitle?: string | undefined;
  currentCompany?: string | undefined;
  searchTerm?: string | undefined;
  createdAtMin?: string | undefined;
  createdAtMax?: string | undefined;
  appliedAtMin?: string | undefined;
  appliedAtMax?: string | undefined;
}

/**
 * Each filter as one condition with one value; lists travel as JSON text. Texts match a part, whatever the case (C12,
 * assumed).
 */
const FILTERS: Record<string, { sql: string; value?: (given: never) => string | number }> = {
  skills: {
    sql: `exists (select 1 from json_each(body, '$.skills') has
      join json_each(?) wanted on lower(has.value) = lower(wanted.value))`,
    value: (list: string[]) => JSON.stringify(list),
  },
  jobIds: {
    sql: 'id in (select candidate_id from job_candidates where job_id in (select value from json_each(?)))',
    value: (list: number[]) => JSON.stringify(list),
  },
  stageIds: {
    sql: 'id in (select candidate_id from job_candidates where stage_id in (select value from json_each(?)))',
    value: (list: number[]) => JSON.stringify(list),
  },
  // No group resource exists in the API (C13, assumed): nobody is in any.
  groupIds: { sql: '? is null', value: (list: string[]) => JSON.stringify(list) },
  candidateEmail: { sql: 'email = lower(?)' },
  phone: { sql: "body ->> 'phone' = ?" },
  currentJobTitle: { sql: "instr(lower(body ->> 'currentJobTitle'), lower(?)) > 0" },
  currentCompany: { sql: "instr(lower(body ->> 'currentCompany'), lower(?)) > 0" },
  searchTerm: {
    sql: `instr(lower(concat_ws(' ', body ->> 'firstName', body ->> 'lastName', email, body ->> 'currentJobTitle',
      body ->> 'currentCompany')), lower(?)) > 0`,
  },
  createdAtMin: { sql: 'created_at >= ?', value: Date.parse },
  createdAtMax: { sql: 'created_at <= ?', value: Date.parse },
  appliedAtMin: { sql: 'id in (select candidate_id from job_candidates where applied_at >= ?)', value: Date.parse },
  appliedAtMax: { sql: 'id in (select candidate_id from job_candidates where applied_at <= ?)', value: Date.parse },
};

/** One page of GET /candidates/list as JSON texts, oldest first; the page number is 0-based. */
export function candidatePage(ctx: Context, query: CandidateQuery): { items: string[]; total: number } {
  const used = Object.entries(FILTERS).filter(([name]) => query[name as keyof CandidateQuery] !== undefined);
  const page = used.length === 0 ? everyone(ctx, query) : filtered(ctx, query, used);
  if (!query.includeJobApplicationDetails) return { items: page.rows.map((row) => row.body), total: page.total };
  return { items: page.rows.map((row) => withApplications(ctx, row)), total: page.total };
}

interface Page {
  rows: { id: number; body: string }[];
  total: number;
}

function everyone(ctx: Context, { pageNumber, perPage }: CandidateQuery): Page {
  const ids = candidateIds(ctx);
  const wanted = ids.subarray(pageNumber * perPage, (pageNumber + 1) * perPage);
  if (wanted.length === 0) return { rows: [], total: ids.length };
  const rows = ctx.state.all<{ id: number; body: string }>(
    'select id, body from candidates where id between ? and ? and company_id = ? order by id',
    wanted[0] ?? 0,
    wanted.at(-1) ?? 0,
    ctx.company.id,
  );
  return { rows, total: ids.length };
}

function filtered(ctx: Context, query: CandidateQuery, used: [string, (typeof FILTERS)[string]][]): Page {
  const where = ['company_id = ?', ...used.map(([, filter]) => filter.sql)].join(' and ');
  const values = used.map(([name, filter]) => {
    const given = query[name as keyof CandidateQuery] as never;
    return filter.value === undefined ? (given as string) : filter.value(given);
  });
  const total = ctx.state.count('candidates', where, ctx.company.id, ...values);
  const rows = ctx.state.all<{ id: number; body: string }>(
    `select id, body from candidates where ${where} order by id limit ? offset ?`,
    ctx.company.id,
    ...values,
    query.perPage,
    query.pageNumber * query.perPage,
  );
  return { rows, total };
}

/** jobCandidateDetails is a list: a candidate may be in many jobs (C15, assumed). */
function withApplications(ctx: Context, row: { id: number; body: string }): string {
  const applications = jobCandidateIdsOf(ctx, row.id).map((id) => renderJobCandidate(ctx, findJobCandidate(ctx, id)));
  return `${row.body.slice(0, -1)},"jobCandidateDetails":[${applications.join(',')}]}`;
}
