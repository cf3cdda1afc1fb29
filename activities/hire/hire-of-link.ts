import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { ClaimRow, LinkRow } from '../../src/store/schema.ts';

export function hireOfLink(row: LinkRow | ClaimRow): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}
