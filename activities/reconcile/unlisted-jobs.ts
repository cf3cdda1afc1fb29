import { followedStates } from '../../src/hire/hire.ts';
import { readAbsent } from '../../src/store/reconciles.ts';
import { fetchJobCandidates } from '../presence/fetch-job-candidates.ts';
import { isRejected } from '../presence/stage-filter.ts';
import type { Run } from './run.ts';

/** Job candidates fetched per call. */
const AT_ONCE = 100;

/**
 * Hints the hires whose person was taken off, or rejected on, a job that an event named and that the jobs list leaves
 * out, for instance because it was deleted. No step lists such a job, so their departure would never be seen.
 */
export async function signalOffUnlisted(run: Run): Promise<void> {
  const { deps, connection, tenantId, plan, counts } = run;
  const jobIds = plan.unlisted ?? [];
  for (let after: string | undefined = ''; after !== undefined && jobIds.length > 0; ) {
    const of = { jobIds, states: followedStates, after, limit: AT_ONCE };
    const hires = await readAbsent(deps.store, tenantId, of);
    const ids = hires.map((hire) => hire.job_candidate_id);
    const fetched = ids.length === 0 ? [] : await fetchJobCandidates(connection, ids, 'bulk');
    for (const [index, jobCandidateId] of ids.entries()) {
      const { jobCandidate, unreadable } = fetched[index] ?? {};
      const isOff = jobCandidate === undefined ? unreadable === undefined : isRejected(jobCandidate);
      if (!isOff) continue;
      await deps.signalHire({ tenantId, jobCandidateId }, 'person', { start: true, watch: true });
      counts.hinted += 1;
    }
    after = ids.length < AT_ONCE ? undefined : ids.at(-1);
  }
}
