import { hiresInState } from '../../src/store/hires.ts';
import { hiresHeld } from '../../src/store/holds.ts';
import { isInScope } from '../hire/job-in-scope.ts';
import type { Run } from './run.ts';

/** Hires on their way to an employee whose job left the scope: each reads that itself, and holds. */
export async function signalOutOfScope({ deps, connection, tenantId, counts }: Run): Promise<void> {
  if (connection.tenant.scope === undefined) return;
  const { store } = deps;
  const open = (await hiresInState(store, tenantId, 'open')).filter((hire) => hire.employee_id === null);
  const asked = await hiresHeld(store, { tenantId, code: 'JOB_LEFT_SCOPE', ever: true });
  const jobs = new Map<string, boolean>();
  for (const { job_id: jobId, job_candidate_id: jobCandidateId } of open) {
    if (jobId === null || asked.has(jobCandidateId)) continue;
    const taken = jobs.get(jobId) ?? (await isInScope(store, connection, jobId));
    jobs.set(jobId, taken);
    if (taken) continue;
    await deps.signalHire({ tenantId, jobCandidateId }, 'onboarding', { start: true });
    counts.hinted += 1;
  }
}
