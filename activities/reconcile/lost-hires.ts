import { followedStates } from '../../src/hire/hire.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { addHints, clearHints, readHints } from '../../src/store/hints.ts';
import { latestHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { jobsOfHires, nextTraced, readAbsent, readTraces } from '../../src/store/reconciles.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { siblingsOf } from '../../src/store/tenant-states.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import { isInScope } from '../hire/read-sources.ts';
import { fetchJobCandidates } from '../presence/fetch-job-candidates.ts';
import { isRejected } from '../presence/stage-filter.ts';
import { askAbout, hasEmployee, type OwnTrace, reopen } from './baseline.ts';
import type { Run } from './run.ts';

/** Job candidates fetched per call. */
const AT_ONCE = 100;
/** Hints of this name gather hires that the store does not know and the partner does not show. */
export const UNSHOWN = 'unshown';

/**
 * After a restore, or in a new store: finds hires that the store does not know and whose people have left the stage
 * since, or were hired again. An enrolment with our reference, or a workflow that Temporal still runs, tells of them.
 * Each is opened again, so that its end looks in the HR system for an employee with our reference and asks about them.
 * The lists have already found the others who are in the stage.
 */
export async function openLost(run: Run): Promise<boolean> {
  const { deps, tenantId, position } = run;
  if (position.list === 0) {
    await openUnknown(run, [...(await deps.followedHires(tenantId))]);
    run.position = { ...position, list: 1 };
    return false;
  }
  const ids = await nextTraced(deps.store, tenantId, { after: position.after, limit: AT_ONCE });
  await openUnknown(run, ids);
  const last = ids.at(-1);
  if (last === undefined) return true;
  run.position = { ...position, after: last };
  return false;
}

async function openUnknown(run: Run, ids: readonly string[]): Promise<void> {
  const { deps, connection, tenantId, counts } = run;
  const { store } = deps;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const known = await latestHires(store, tenantId, some);
    const traces = await readTraces<OwnTrace>(store, tenantId, some);
    const ofSiblings = await hiredBySiblings(run, some);
    const unknown = some.filter((id) => isUnknown(known.get(id), traces.get(id)) && !ofSiblings.has(id));
    if (unknown.length === 0) continue;
    const fetched = await fetchJobCandidates(connection, unknown, 'bulk');
    for (const [index, jobCandidateId] of unknown.entries()) {
      const shown: JobCandidate | undefined = fetched[index]?.jobCandidate;
      if (shown === undefined) {
        await addHints(store, tenantId, UNSHOWN, [jobCandidateId]);
        continue;
      }
      const { candidateId, jobId } = shown;
      // Another tenant of the company takes the job and follows the people it enrolled.
      if (!(await isInScope(store, connection, jobId))) continue;
      const trace = traces.get(jobCandidateId);
      // A new store may have years of these: hires that ended without an employee are skipped silently.
      if (run.kind === 'baseline' && trace?.isOver === true && !(await hasEmployee(connection, candidateId))) continue;
      await reopen(run, { jobCandidateId, candidateId, jobId }, trace);
      counts.started += 1;
    }
  }
}

/** Asks one question about all hires that the restored or rebuilt store does not know and the partner does not show. */
export async function askAboutUnshown({ deps, tenantId }: Run): Promise<void> {
  const unshown = await readHints(deps.store, tenantId, UNSHOWN);
  if (unshown.length === 0) return;
  const ids = unshown.map(({ recordId }) => recordId);
  await askAbout(deps, tenantId, 'HIRES_NOT_RESTORED', ids);
  await clearHints(deps.store, tenantId, UNSHOWN, unshown);
}

/** People hired by other tenants of the company, whose enrolments carry the same references. */
async function hiredBySiblings({ deps: { store }, tenantId }: Run, ids: readonly string[]): Promise<Set<string>> {
  const hired = new Set<string>();
  for (const sibling of await siblingsOf(store, tenantId))
    for (const [id, { state }] of await latestHires(store, sibling, ids)) if (state !== 'before-go-live') hired.add(id);
  return hired;
}

/** Whether the store lacks the hire, has only an earlier one of the same application, or lacks its enrolment. */
function isUnknown(hire: HireRow | undefined, trace: OwnTrace | undefined): boolean {
  if (hire === undefined) return true;
  if (trace === undefined) return false;
  if (hire.period < trace.period) return true;
  return hire.state === 'open' && hire.employee_id === null && hire.onboarding_candidate_id === null;
}

/** Job candidates fetched per call. */
const JOBS_AT_ONCE = 100;

/** Jobs that the jobs list leaves out: those that an event named, and once a day all that have hires. */
export async function unlistedJobs(
  { store, tenantId, kind }: { store: Store; tenantId: string; kind: ReconcileKind },
  hinted: ReadonlySet<string>,
  listed: readonly { jobId: string }[],
): Promise<string[]> {
  const ofHires = kind === 'changed' ? [] : await jobsOfHires(store, tenantId, followedStates);
  return [...hinted.union(new Set(ofHires)).difference(new Set(listed.map(({ jobId }) => jobId)))];
}

/**
 * Hints the hires whose person was taken off, or rejected on, a job that the jobs list leaves out, for instance because
 * it was deleted. No step lists such a job, so their departure would never be seen.
 */
export async function signalOffUnlisted(run: Run): Promise<void> {
  const { deps, connection, tenantId, plan, counts } = run;
  const jobIds = plan.unlisted ?? [];
  for (let after: string | undefined = ''; after !== undefined && jobIds.length > 0; ) {
    const of = { jobIds, states: followedStates, after, limit: JOBS_AT_ONCE };
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
    after = ids.length < JOBS_AT_ONCE ? undefined : ids.at(-1);
  }
}
