import type { Observed } from '../../hire/observed.ts';
import { listObserved } from '../../store/observed-hires.ts';
import type { Store } from '../../store/open-store.ts';

/** Somebody who was hired while the tenant only observed, and what their hire would come to. */
export interface ObservedHire {
  jobCandidateId: string;
  jobId: string | null;
  /** UTC. The partner shows no date of a hire: this is when it was first seen. */
  firstSeenAt: string;
  observed: Observed;
}

/** Those first seen at or after `since` (ms) and not started yet, oldest first. */
export async function listObservedHires(store: Store, tenantId: string, since = 0): Promise<ObservedHire[]> {
  return (await listObserved(store, tenantId, since)).map((row) => ({
    jobCandidateId: row.job_candidate_id,
    jobId: row.job_id,
    firstSeenAt: new Date(Number(row.opened_at)).toISOString(),
    observed: JSON.parse(row.observed ?? '{}') as Observed,
  }));
}
