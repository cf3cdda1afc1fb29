import { isConnectorError } from '../../src/errors.ts';
import { followedStates, isResting, restingStates } from '../../src/hire/hire-state.ts';
import { addFirstHints, addHints, clearHints, type Hint, readHints } from '../../src/store/hints.ts';
import { moveResting } from '../../src/store/hire-states.ts';
import { latestHires } from '../../src/store/hires.ts';
import { markListed } from '../../src/store/jobs.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { countSeenByJob, readAbsent, readHiredOf } from '../../src/store/seen-people.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { proveStageFilter } from '../presence/prove-stage-filter.ts';
import { readPresence } from '../presence/read-presence.ts';
import { isWhole } from './list-people.ts';
import type { Run } from './run.ts';

/** Jobs or hires of one step. */
const AT_ONCE = 100;
/** So many lots of people are looked for a second time in one reconcile; the rest is remembered. */
const MOST_LOTS = 2;

/**
 * Hires whose person was in no list: a hint to read, no proof of anything. Where nobody follows the hire, it is
 * remembered that a second reading is due.
 */
export async function noteAbsent(run: Run): Promise<boolean> {
  const { deps, tenantId, plan, position } = run;
  const jobs = plan.jobs.slice(position.list * AT_ONCE, (position.list + 1) * AT_ONCE);
  if (jobs.length === 0) return true;
  const absent = await readAbsent(deps.store, tenantId, {
    jobIds: jobs.map(({ jobId }) => jobId),
    states: [...followedStates, ...restingStates],
    after: position.after,
    limit: AT_ONCE,
  });
  for (const hire of absent.filter(({ state }) => !isResting(state))) {
    const ref = { tenantId, jobCandidateId: hire.job_candidate_id };
    await deps.signalHire(ref, 'person', { start: true, watch: hire.state === 'done' });
    run.counts.hinted += 1;
  }
  const resting = absent.filter(({ state }) => isResting(state)).map((hire) => hire.job_candidate_id);
  await addFirstHints(deps.store, tenantId, 'absent', resting);
  const last = absent.length < AT_ONCE ? undefined : absent.at(-1);
  run.position =
    last === undefined
      ? { ...position, list: position.list + 1, after: '' }
      : { ...position, after: last.job_candidate_id };
  return false;
}

/** The jobs whose people are all known count as listed, with the totals from before the reading. */
export async function markJobs(run: Run): Promise<boolean> {
  const { deps, tenantId, plan, position } = run;
  const jobs = plan.jobs.slice(position.list * AT_ONCE, (position.list + 1) * AT_ONCE);
  if (jobs.length === 0) return true;
  const whole = jobs.filter(({ jobId }) => isWhole(plan, jobId));
  await markListed(deps.store, tenantId, whole);
  run.position = { ...position, list: position.list + 1 };
  return false;
}

/** Tries the partner's filter on the longest list that was read. */
export async function proveFilter({ deps, connection, tenantId }: Run): Promise<boolean> {
  const [longest] = await countSeenByJob(deps.store, tenantId);
  if (longest === undefined) return true;
  const [jobId] = longest;
  const memberIds = await readHiredOf(deps.store, tenantId, jobId);
  await proveStageFilter(deps.store, connection, { jobId, memberIds });
  return true;
}

/**
 * Hires that nobody follows and whose person is gone by a second reading too, after the tenant's grace: when they come
 * back, that is a new period. Somebody moved out and back by mistake is still who they were.
 */
export async function readLeavers(run: Run): Promise<boolean> {
  const { deps, tenantId, position } = run;
  const { grace } = run.connection.tenant.policies.cancel;
  const goneBefore = (await readClock(deps.store)) - grace;
  const noted = await readHints(deps.store, tenantId, 'absent', AT_ONCE);
  const due = noted.filter(({ hintedAt }) => hintedAt <= goneBefore);
  if (due.length === 0) return true;
  const ids = due.map(({ recordId }) => recordId);
  const hires = await latestHires(deps.store, tenantId, ids);
  // All at once: however many they are, they share one list.
  const read = await Promise.all(due.map((hint) => readAgain(run, hint, hires.get(hint.recordId))));
  await clearHints(
    deps.store,
    tenantId,
    'absent',
    read.filter((hint) => hint !== undefined),
  );
  run.position = { ...position, list: position.list + 1 };
  return due.length < AT_ONCE || run.position.list >= MOST_LOTS;
}

/** The hint that is settled by it. */
async function readAgain(run: Run, hint: Hint, hire: HireRow | undefined): Promise<Hint | undefined> {
  const { deps, connection, tenantId } = run;
  if (hire === undefined || !isResting(hire.state)) return hint;
  const stages = hiringStagesOf(connection.tenant);
  const presence = await readPresence(deps.store, connection, hint.recordId, stages).catch(unlessUnreadable);
  if (presence === undefined) {
    // Their own record keeps nobody else waiting; theirs is read again next time, after the others.
    run.counts.unreadable += 1;
    await addHints(deps.store, tenantId, 'absent', [hint.recordId]);
    return undefined;
  }
  if (presence.verdict !== 'in') await moveResting(deps.store, hire, 'left');
  return hint;
}

function unlessUnreadable(error: unknown): undefined {
  if (!isConnectorError(error, 'RECORD_UNREADABLE')) throw error;
}
