import type { Call } from './handle.ts';
import { contextOf } from './prepare.ts';
import { candidateIds, deleteCandidates } from './records/candidates/candidates.ts';
import { createJob } from './records/jobs/jobs.ts';
import type { SandboxState } from './state.ts';

/**
 * Somebody works in the dashboard while a list is being paged, so that the pages after this one shift by one record.
 */
export function drift(state: SandboxState, call: Call): void {
  const { company } = call;
  if (company === undefined) return;
  state.transaction(() => {
    const ctx = contextOf(state, company);
    const [first] = candidateIds(ctx);
    // Jobs are listed newest first, so a new one shifts; the other lists begin with the oldest.
    if (call.operation === 'jobs.list') createJob(ctx, { title: 'Created while paging', status: 'ACTIVE' });
    else if (first !== undefined) deleteCandidates(ctx, [first]);
  });
}
