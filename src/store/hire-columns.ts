import type { HireRef } from '../hire/hire.ts';

/** The columns that name a hire in every table; usable in `values`, and in `where` through `eb.and`. */
export function hireColumns({ tenantId, jobCandidateId, period }: HireRef) {
  return { tenant_id: tenantId, job_candidate_id: jobCandidateId, period };
}

/** The hire that a row names in these columns. */
export function hireOf(row: { tenant_id: string; job_candidate_id: string; period: number }): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}
