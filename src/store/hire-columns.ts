import type { HireRef } from '../hire/hire-ref.ts';

/** The columns by which every table names a hire; for `values`, and for `where` through `eb.and`. */
export function hireColumns({ tenantId, jobCandidateId, period }: HireRef) {
  return { tenant_id: tenantId, job_candidate_id: jobCandidateId, period };
}
