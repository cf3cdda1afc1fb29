import type { Context } from '../../context.ts';
import { findJobCandidate, jobCandidateIdsOf, renderJobCandidate } from '../job-candidates/job-candidates.ts';
import { type Search, searchNames, searchPeople } from './candidate-search.ts';
import { candidateIds } from './candidates.ts';
import { intersection } from './id-list.ts';
import { answeredText } from './own-resumes.ts';

export interface CandidateQuery extends Search {
  pageNumber: number;
  perPage: number;
  includeJobApplicationDetails: boolean;
  jobIds?: number[] | undefined;
  stageIds?: number[] | undefined;
  groupIds?: string[] | undefined;
  candidateEmail?: string | undefined;
  phone?: string | undefined;
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
  createdAtMin: { sql: 'created_at >= ?', value: Date.parse },
  createdAtMax: { sql: 'created_at <= ?', value: Date.parse },
  appliedAtMin: { sql: 'id in (select candidate_id from job_candidates where applied_at >= ?)', value: Date.parse },
  appliedAtMax: { sql: 'id in (select candidate_id from job_candidates where applied_at <= ?)', value: Date.parse },
};

/** One page of GET /candidates/list as JSON texts, oldest first; the page number is 0-based. */
export function candidatePage(ctx: Context, query: CandidateQuery): { items: string[]; total: number } {
  const used = Object.entries(FILTERS).filter(([name]) => query[name as keyof CandidateQuery] !== undefined);
  const found = searched(ctx, query);
  const page =
    used.length === 0 ? pageOf(ctx, query, found ?? candidateIds(ctx)) : filtered(ctx, { query, used, found });
  const rows = page.rows.map(({ id, body }) => ({ id, body: answeredText(ctx, id, body) }));
  const shown = query.includeJobApplicationDetails
    ? rows.map((row) => withApplications(ctx, row))
    : rows.map(({ body }) => body);
  return { items: shown, total: page.total };
}

interface Page {
  rows: { id: number; body: string }[];
  total: number;
}

/** Whom the filters of the search index let through; undefined when none is given. */
function searched(ctx: Context, query: CandidateQuery): Int32Array | undefined {
  const results = searchNames.flatMap((name) => {
    const given = query[name];
    return given === undefined ? [] : [searchPeople(ctx, name, given as never)];
  });
  return results.length === 0 ? undefined : results.reduce(intersection);
}

/** A page of people known by id. */
function pageOf(ctx: Context, { pageNumber, perPage }: CandidateQuery, ids: Int32Array): Page {
  const wanted = ids.subarray(pageNumber * perPage, (pageNumber + 1) * perPage);
  if (wanted.length === 0) return { rows: [], total: ids.length };
  const rows = ctx.state.all<{ id: number; body: string }>(
    'select id, body from candidates where id in (select value from json_each(?)) and company_id = ? order by id',
    JSON.stringify([...wanted]),
    ctx.company.id,
  );
  return { rows, total: ids.length };
}

interface Filtering {
  query: CandidateQuery;
  used: [string, (typeof FILTERS)[string]][];
  found: Int32Array | undefined;
}

function filtered(ctx: Context, { query, used, found }: Filtering): Page {
  const among = found === undefined ? [] : ['id in (select value from json_each(?))'];
  const where = ['company_id = ?', ...used.map(([, filter]) => filter.sql), ...among].join(' and ');
  const given = used.map(([name, filter]) => {
    const value = query[name as keyof CandidateQuery] as never;
    return filter.value === undefined ? (value as string) : filter.value(value);
  });
  const values = found === undefined ? given : [...given, JSON.stringify([...found])];
  const total = ctx.state.count('candidates', where, ctx.company.id, ...values);
  const rows = ctx.state.all<{ id: number; body: string }>(
    // Sorts ids, not records, which are large.
    `select id, body from candidates where id in (select id from candidates where ${where} order by id limit ? offset ?)
     order by id`,
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
