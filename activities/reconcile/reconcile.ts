import { isConnectorError } from '../../src/errors.ts';
import { restingStates } from '../../src/hire/hire-state.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { clearHints, readHints } from '../../src/store/hints.ts';
import { hiresInState, latestHires, updateHire } from '../../src/store/hires.ts';
import { markListed } from '../../src/store/jobs.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readClock, readTenantState, recordReconcile, recordVerifiedKey } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guarded } from '../guarded.ts';
import { listStage, type StageMember } from '../presence/list-stage.ts';
import { proveStageFilter } from '../presence/prove-stage-filter.ts';
import { readPresence } from '../presence/read-presence.ts';
import { recordBaseline } from './baseline.ts';
import { type ListedJob, refreshJobs } from './refresh-jobs.ts';

/** What one pass saw and did. */
export interface ReconcileCounts {
  jobs: number;
  jobsListed: number;
  people: number;
  started: number;
  woken: number;
  /** Records that do not fit the contract: seen, counted, skipped. */
  unreadable: number;
}

export interface ReconcileActivities {
  reconcile(input: { tenantId: string }): Promise<ReconcileCounts>;
}

const DAY_MS = 86_400_000;

interface Reconcile {
  deps: ActivityDeps;
  connection: Connection;
  tenantId: string;
  counts: ReconcileCounts;
}

/**
 * Compares the partner with `hires` and hints what differs. Decides nothing: each wake reads again. The jobs list
 * comes first and doubles as the known-good read, so that nothing starts under another company's key.
 */
export function reconcile(deps: ActivityDeps, { tenantId }: { tenantId: string }): Promise<ReconcileCounts> {
  return guarded(deps, tenantId, async (connection) => {
    const counts = { jobs: 0, jobsListed: 0, people: 0, started: 0, woken: 0, unreadable: 0 };
    const reconcile: Reconcile = { deps, connection, tenantId, counts };
    const state = await readTenantState(deps.store, tenantId);
    const full = (state.fully_reconciled_at ?? 0) + DAY_MS <= (await readClock(deps.store));
    const hints = await readHints(deps.store, tenantId, 'people');
    const hinted = hints.map((wake) => wake.recordId);
    const listed = await refreshJobs(deps.store, connection);
    const { jobs } = listed;
    counts.unreadable += listed.unreadable.length;
    await recordVerifiedKey(deps.store, tenantId, connection.keyFingerprint);
    counts.jobs = jobs.length;
    const first = state.baseline_done_at === null;
    if (first) await recordBaseline(deps, connection, listed, counts);
    else
      for (const job of jobs.filter((one) => full || hasChanged(one) || hinted.includes(one.jobId)))
        await reconcileJob(reconcile, job);
    await clearHints(deps.store, tenantId, 'people', hints);
    await signalMovedOnboardings(reconcile);
    if (full || first) await signalOpenHires(reconcile);
    await recordReconcile(deps.store, tenantId, full || first);
    deps.log.info({ tenantId, full, ...counts }, 'tenant reconciled');
    return counts;
  });
}

function hasChanged(job: ListedJob): boolean {
  return job.totals !== job.listedTotals;
}

/** Everyone of one job who is in a hiring stage, against the hires of that job. */
async function reconcileJob(reconcile: Reconcile, job: ListedJob): Promise<void> {
  const { deps, connection, tenantId, counts } = reconcile;
  counts.jobsListed += 1;
  const present = new Map<string, StageMember>();
  const before = counts.unreadable;
  for (const stage of connection.tenant.policies.enrolAt) {
    for await (const { members, unreadable } of listStage(connection, job.jobId, stage, 'bulk')) {
      for (const member of members) if (!member.rejected) present.set(member.jobCandidateId, member);
      counts.unreadable += unreadable.length;
    }
  }
  counts.people += present.size;
  const known = await latestHires(deps.store, tenantId, [...present.keys()]);
  for (const id of present.keys()) {
    if (startsNow(known.get(id))) await start(reconcile, id);
  }
  await signalAbsent(reconcile, job, present);
  await noteLeft(reconcile, job, present);
  // With a record unreadable the job is listed again next time, or its person would be missed for a day.
  if (counts.unreadable === before) await markListed(deps.store, tenantId, job.jobId, job.totals);
  await proveStageFilter(deps.store, connection, [...present.values()]);
}

/** No hire yet, or one that is over and whose person had left: being in the stage now is a new period. */
function startsNow(hire: HireRow | undefined): boolean {
  return hire === undefined || hire.state === 'cancelled';
}

/** Hires of this job whose person is not in the list: a hint to read, no proof of anything. */
async function signalAbsent(
  reconcile: Reconcile,
  job: ListedJob,
  present: ReadonlyMap<string, StageMember>,
): Promise<void> {
  const { deps, tenantId, counts } = reconcile;
  for (const state of ['open', 'done'] as const) {
    for (const hire of await hiresInState(deps.store, tenantId, state)) {
      if (hire.job_id !== job.jobId || present.has(hire.job_candidate_id)) continue;
      const ref = { tenantId, jobCandidateId: hire.job_candidate_id };
      await deps.signalHire(ref, 'person', { start: true, watch: state === 'done' });
      counts.woken += 1;
    }
  }
}

/** At most so many second readings a reconcile; the rest waits for the next. */
const MOST_SECOND_READINGS = 50;

/**
 * Hires that nobody follows and whose person is gone by a second reading too: when they come back, that is a new
 * period.
 */
async function noteLeft(
  reconcile: Reconcile,
  job: ListedJob,
  present: ReadonlyMap<string, StageMember>,
): Promise<void> {
  const { deps, connection, tenantId } = reconcile;
  const over = await hiresInState(deps.store, tenantId, ...restingStates);
  const absent = over.filter((hire) => hire.job_id === job.jobId && !present.has(hire.job_candidate_id));
  for (const hire of absent.slice(0, MOST_SECOND_READINGS)) {
    const { enrolAt } = connection.tenant.policies;
    const presence = await readPresence(deps.store, connection, hire.job_candidate_id, enrolAt).catch(unlessUnreadable);
    // Their own record keeps nobody else waiting; the job is listed again next time.
    if (presence === undefined) reconcile.counts.unreadable += 1;
    const key = { tenantId, jobCandidateId: hire.job_candidate_id, period: hire.period };
    if (presence !== undefined && presence.verdict !== 'in')
      await updateHire(deps.store, key, { state: 'left', step: 'ended' });
  }
}

function unlessUnreadable(error: unknown): undefined {
  if (!isConnectorError(error, 'RECORD_UNREADABLE')) throw error;
}

/** The only poll of onboarding: one list for all hires that wait, whatever their number. */
async function signalMovedOnboardings(reconcile: Reconcile): Promise<void> {
  const { deps, connection, tenantId, counts } = reconcile;
  const open = await hiresInState(deps.store, tenantId, 'open');
  const waiting = new Map(
    open.filter((hire) => hire.employee_id === null).map((hire) => [hire.onboarding_candidate_id, hire]),
  );
  waiting.delete(null);
  if (waiting.size === 0) return;
  for await (const { items, unreadable } of connection.partner.pages(
    contract.onboarding.listCandidates,
    {},
    { priority: 'bulk' },
  )) {
    counts.unreadable += unreadable.length;
    for (const item of items) {
      const hire = waiting.get(String(item.onboardingCandidateId));
      if (hire === undefined || hire.onboarding_status === String(item.overallStatus)) continue;
      await deps.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'onboarding', { start: true });
      counts.woken += 1;
    }
  }
}

/** Once a day every open hire is reached, and started anew where its workflow is gone. */
async function signalOpenHires(reconcile: Reconcile): Promise<void> {
  const { deps, tenantId, counts } = reconcile;
  for (const hire of await hiresInState(deps.store, tenantId, 'open')) {
    await deps.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'answer', { start: true });
    counts.woken += 1;
  }
}

async function start({ deps, tenantId, counts }: Reconcile, jobCandidateId: string): Promise<void> {
  await deps.signalHire({ tenantId, jobCandidateId }, 'person', { start: true });
  counts.started += 1;
}
