import { isConnectorError } from '../../src/errors.ts';
import { followedStates, restingStates } from '../../src/hire/hire-state.ts';
import { moveResting } from '../../src/store/hire-states.ts';
import { hiresInState, latestHires } from '../../src/store/hires.ts';
import { markListed } from '../../src/store/jobs.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { listStage, type StageMember } from '../presence/list-stage.ts';
import { proveStageFilter } from '../presence/prove-stage-filter.ts';
import { readPresence } from '../presence/read-presence.ts';
import { absentFrom, startsNow, waitsForCreateStage } from './decisions.ts';
import type { ListedJob } from './refresh-jobs.ts';
import type { Reconcile } from './signal-hires.ts';

/** Everyone of one job who is in a hiring stage, against the hires of that job. */
export async function reconcileJob(reconcile: Reconcile, job: ListedJob): Promise<void> {
  const { deps, connection, tenantId, counts } = reconcile;
  const before = counts.unreadable;
  const { present, arrived } = await listPresent(reconcile, job);
  counts.jobsListed += 1;
  counts.people += present.size;
  const known = await latestHires(deps.store, tenantId, [...present.keys()]);
  for (const jobCandidateId of present.keys()) {
    const hire = known.get(jobCandidateId);
    const starts = startsNow(hire);
    if (!starts && !(arrived.has(jobCandidateId) && waitsForCreateStage(hire))) continue;
    await deps.signalHire({ tenantId, jobCandidateId }, 'person', { start: true });
    counts[starts ? 'started' : 'hinted'] += 1;
  }
  const ids = new Set(present.keys());
  await signalAbsent(reconcile, job, ids);
  await noteLeft(reconcile, job, ids);
  // With a record unreadable the job is listed again next time, or its person would be missed for a day.
  if (counts.unreadable === before) await markListed(deps.store, tenantId, job.jobId, job.totals);
  await proveStageFilter(deps.store, connection, [...present.values()]);
}

interface Present {
  /** Everyone in a hiring stage. */
  present: Map<string, StageMember>;
  /** Those in a stage that creates employees and enrols nobody. */
  arrived: Set<string>;
}

async function listPresent({ connection, counts }: Reconcile, job: ListedJob): Promise<Present> {
  const { enrolAt } = connection.tenant.policies;
  const present = new Map<string, StageMember>();
  const arrived = new Set<string>();
  for (const stage of hiringStagesOf(connection.tenant)) {
    for await (const { members, unreadable } of listStage(connection, job.jobId, stage, 'bulk')) {
      for (const member of members.filter((one) => !one.rejected)) {
        present.set(member.jobCandidateId, member);
        if (!enrolAt.includes(stage)) arrived.add(member.jobCandidateId);
      }
      counts.unreadable += unreadable.length;
    }
  }
  return { present, arrived };
}

/** Hires of this job whose person is not in the list: a hint to read, no proof of anything. */
async function signalAbsent(
  { deps, tenantId, counts }: Reconcile,
  job: ListedJob,
  present: ReadonlySet<string>,
): Promise<void> {
  const followed = await hiresInState(deps.store, tenantId, ...followedStates);
  for (const hire of absentFrom(followed, job.jobId, present)) {
    const ref = { tenantId, jobCandidateId: hire.job_candidate_id };
    await deps.signalHire(ref, 'person', { start: true, watch: hire.state === 'done' });
    counts.hinted += 1;
  }
}

/**
 * Hires that nobody follows and whose person is gone by a second reading too: when they come back, that is a new
 * period.
 */
async function noteLeft(
  { deps, connection, tenantId, counts }: Reconcile,
  job: ListedJob,
  present: ReadonlySet<string>,
): Promise<void> {
  const stages = hiringStagesOf(connection.tenant);
  const resting = await hiresInState(deps.store, tenantId, ...restingStates);
  // All at once: however many they are, they share one list.
  await Promise.all(
    absentFrom(resting, job.jobId, present).map(async (hire) => {
      const id = hire.job_candidate_id;
      const presence = await readPresence(deps.store, connection, id, stages).catch(unlessUnreadable);
      // Their own record keeps nobody else waiting; the job is listed again next time.
      if (presence === undefined) counts.unreadable += 1;
      else if (presence.verdict !== 'in') await moveResting(deps.store, hire, 'left');
    }),
  );
}

function unlessUnreadable(error: unknown): undefined {
  if (!isConnectorError(error, 'RECORD_UNREADABLE')) throw error;
}
