import { randomUUID } from 'node:crypto';
import { isConnectorError, unless } from '../../src/errors.ts';
import { followedStates, isResting, restingStates } from '../../src/hire/hire.ts';
import type { ReconcileCounts, Reconciled } from '../../src/hire/hire-activities.ts';
import type { HoldCode } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { noticeRestored } from '../../src/store/backups.ts';
import { addFirstHints, addHints, clearHints, clearHintsUntil, type Hint, readHints } from '../../src/store/hints.ts';
import { moveResting } from '../../src/store/hire-states.ts';
import { hiresInState, latestHires } from '../../src/store/hires.ts';
import { everHeld, hiresHeld } from '../../src/store/holds.ts';
import { markListed, readJobs } from '../../src/store/jobs.ts';
import { unlessErased } from '../../src/store/observed-hires.ts';
import { readClock } from '../../src/store/open-store.ts';
import {
  addSeen,
  countSeen,
  countSeenByJob,
  countSeenByStage,
  endReconcile,
  type ListedPerson,
  readAbsent,
  readHiredOf,
  takeReconcile,
} from '../../src/store/reconciles.ts';
import type { HireRow } from '../../src/store/schema.ts';
import { readTenantState, recordReconcile, startBaseline } from '../../src/store/tenant-states.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import { assertMoved } from '../../src/streams/read-page.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { watchFields } from '../fields/custom-fields.ts';
import { guarded } from '../guarded.ts';
import { isInScope } from '../hire/read-sources.ts';
import { noteMerge } from '../hire/with-hire.ts';
import {
  proveStageFilter,
  readStagePage,
  type StageList,
  type StageMember,
  type StagePage,
} from '../presence/fetch-job-candidates.ts';
import { readPresence } from '../presence/read-presence.ts';
import {
  askAboutOthers,
  askAboutUnshown,
  BASELINE_UNREADABLE,
  cannotGoLive,
  goLive,
  listJobs,
  listOwnEnrolments,
  nameEnrolled,
  openLost,
  recordHired,
  shortBaseline,
  signalOffUnlisted,
  unlistedJobs,
} from './baseline.ts';
import { refreshJobs } from './refresh-jobs.ts';
import {
  afterPage,
  firstStep,
  goesOnFrom,
  jobsToList,
  kindOf,
  nextStep,
  type Plan,
  type Position,
  paused,
  type Run,
  type StepName,
  saveRun,
  scopeOf,
  shortJobs,
  startOf,
  startOfList,
  startsNow,
  totalsToNote,
  unlikeTotals,
  unshownAfter,
  waitsForCreateStage,
} from './run.ts';
import { lookAtOnboardings, signalOpenHires, signalUnfollowed } from './signal-hires.ts';

/** The hold that asks how to end the hire of a person who left; if they are back in the stage, no answer is needed. */
const BACK = 'TOO_MANY_CANCELLATIONS' satisfies HoldCode;

/** Stands for the job of an unreadable record in a list of the whole company. */
const UNKNOWN_JOB = 'unknown';

/**
 * Reads one page of the people in hiring stages. If the whole company is compared, its own list costs one call per
 * hundred people instead of one per job. If the partner refuses that list, each job is asked; so are jobs that show
 * fewer people than their totals.
 */
async function listPeople(run: Run): Promise<boolean> {
  const { plan, position } = run;
  const list = listsOf(run)[position.list];
  if (list === undefined) {
    if (await findShortJobs(run)) return false;
    if (run.kind === 'baseline') await assertWhole(run);
    return true;
  }
  try {
    let page = await readStagePage(run.connection, list, position.cursor.page);
    // An empty page although the total counts more people: worth a second look.
    if (unshownAfter(position.cursor, page) > 0) page = await readStagePage(run.connection, list, position.cursor.page);
    const unshown = unshownAfter(position.cursor, page);
    if (unshown > 0) noteCut(run, list, unshown);
    if (page !== undefined) await takePage(run, list, page);
    const cursor = afterPage(position.cursor, page, run.kind === 'baseline');
    if (cursor === undefined || cursor.page !== position.cursor.page + 1) run.pageBefore = '';
    run.position =
      cursor === undefined ? { ...position, list: position.list + 1, cursor: startOfList() } : { ...position, cursor };
  } catch (error) {
    // A record that is unreadable in this list is unreadable in the others.
    const isRefused = isConnectorError(error) && error.action === 'reject' && error.code !== BASELINE_UNREADABLE;
    if (list.jobId !== undefined || !plan.isWide || !isRefused) throw error;
    changePlan(run, { isWide: false });
    run.position = { ...position, list: 0, cursor: startOfList() };
  }
  return false;
}

/** The lists in the order in which they are read. */
function listsOf({ connection, plan }: Run): StageList[] {
  const stages = hiringStagesOf(connection.tenant);
  const jobIds = plan.isWide ? (plan.short ?? []) : plan.jobs.map(({ jobId }) => jobId);
  const ofCompany = plan.isWide ? stages.map((stage) => ({ stage })) : [];
  return [...ofCompany, ...jobIds.flatMap((jobId) => stages.map((stage) => ({ stage, jobId })))];
}

/** Runs once the company's lists are read. Returns true if some jobs must be listed separately. */
async function findShortJobs(run: Run): Promise<boolean> {
  const { plan, tenantId } = run;
  const { store } = run.deps;
  if (!plan.isWide || plan.short !== undefined) return false;
  const seen = await countSeenByJob(store, tenantId);
  const listed = new Set(plan.jobs.map(({ jobId }) => jobId));
  const jobs = (await readJobs(store, tenantId)).filter(({ jobId }) => listed.has(jobId));
  const short = shortJobs(jobs, seen, hiringStagesOf(run.connection.tenant), plan.isCut === true);
  changePlan(run, { short });
  return short.length > 0;
}

/** A list that ended before its total: some of its people may not have been shown. */
function noteCut(run: Run, { jobId }: StageList, unshown: number): void {
  const { isCut = false, cut = {} } = run.plan;
  if (jobId === undefined) changePlan(run, { isCut: true, cut });
  else changePlan(run, { isCut, cut: { ...cut, [jobId]: Math.max(unshown, cut[jobId] ?? 0) } });
}

function changePlan(run: Run, change: Partial<Plan>): void {
  run.plan = { ...run.plan, ...change };
  run.isPlanChanged = true;
}

/** How long a baseline waits for people that two totals count and no list shows. */
const SHORT_BASELINE_MS = 3_600_000;

/**
 * Refuses a baseline while both the list's total and the job's own count include people that no list shows: they would
 * be hired again once they are shown. Both may count wrongly, so it goes on after an hour.
 */
async function assertWhole(run: Run): Promise<void> {
  const { deps, tenantId, plan, connection } = run;
  const cut = Object.keys(plan.cut ?? {});
  if (cut.length === 0) return;
  const seen = await countSeenByJob(deps.store, tenantId);
  const jobs = await readJobs(deps.store, tenantId, cut);
  const [short] = shortJobs(jobs, seen, hiringStagesOf(connection.tenant), false);
  if (short === undefined) return;
  const facts = { jobId: short, shown: seen.get(short) ?? 0, unshown: plan.cut?.[short] ?? 0 };
  const { baseline_started_at: startedAt } = await readTenantState(deps.store, tenantId);
  if ((await readClock(deps.store)) - Number(startedAt) > SHORT_BASELINE_MS) {
    deps.log.warn({ tenantId, ...facts }, 'baseline goes on without people whom only totals tell of');
    return;
  }
  const { short: _read, cut: _ended, isCut: _wide, ...again } = plan;
  run.plan = again;
  run.isPlanChanged = true;
  run.position = startOf('people');
  await saveRun(run, true);
  throw shortBaseline(tenantId, facts);
}

async function takePage(run: Run, list: StageList, page: StagePage): Promise<void> {
  const { members, unreadable } = page;
  const ids = members.map((member) => member.jobCandidateId).join(' ');
  assertMoved({ list: contract.jobCandidates.listByStageType }, run.position.cursor.page, ids, run.pageBefore);
  run.pageBefore = ids;
  const { stage, jobId = null } = list;
  const people = members.map(
    ({ rejected, ...member }): ListedPerson => ({ ...member, stage, seen: rejected ? 'rejected' : 'hired' }),
  );
  const whose = `Somebody hired${jobId === null ? '' : ` on job ${jobId}`} has`;
  for (const item of unreadable) {
    // A job with an unreadable record is listed again next time; otherwise its person would be missed for a day.
    const broken = [...new Set([...run.plan.broken, jobId ?? UNKNOWN_JOB])];
    if (broken.length > run.plan.broken.length) changePlan(run, { broken });
    if (item.id !== undefined)
      people.push({ jobCandidateId: item.id, candidateId: null, jobId, stage, seen: 'unreadable' });
    else if (run.kind === 'baseline') throw cannotGoLive(run.tenantId, whose, item);
    else run.counts.unreadable += 1;
  }
  // Seen means told: the next attempt may find a person whom this one could not tell to Temporal in no list any more.
  if (run.kind !== 'baseline') await startMissing(run, list, members);
  await addSeen(run.deps.store, run.tenantId, people);
}

/** Signals everyone in a hiring stage without a hire, except people who were erased. */
async function startMissing(run: Run, { stage }: StageList, members: readonly StageMember[]): Promise<void> {
  const { deps, tenantId, counts, connection } = run;
  const hired = members.filter((one) => !one.rejected);
  const present = [...new Set((await unlessErased(deps.store, tenantId, hired)).map((one) => one.jobCandidateId))];
  // A stage that creates employees but enrols nobody.
  const hasArrived = !connection.tenant.policies.enrolAt.includes(stage);
  const known = await latestHires(deps.store, tenantId, present);
  // A person who is seen in the stage again was not away for good.
  const back = present.filter((id) => isResting(known.get(id)?.state ?? 'open'));
  const until = back.length > 0 ? await readClock(deps.store) : 0;
  if (back.length > 0) await clearHintsUntil(deps.store, { tenantId, stream: 'absent', until }, back);
  const isOpen = present.some((id) => known.get(id)?.state === 'open');
  const held = isOpen ? await hiresHeld(deps.store, tenantId, BACK) : new Set();
  const candidates = new Map(hired.map((one) => [one.jobCandidateId, one.candidateId]));
  for (const jobCandidateId of present) {
    const hire = known.get(jobCandidateId);
    const candidateId = candidates.get(jobCandidateId);
    if (hire !== undefined && candidateId !== undefined)
      await noteMerge(deps.store, connection.tenant, { tenantId, jobCandidateId, candidateId }, hire.candidate_id);
    const starts = startsNow(hire);
    const isBack = held.has(jobCandidateId) || (hire?.state === 'open' && hire.step === 'cancel');
    if (!starts && !isBack && !(hasArrived && waitsForCreateStage(hire))) continue;
    await deps.signalHire({ tenantId, jobCandidateId }, 'person', { start: true });
    counts[starts ? 'started' : 'hinted'] += 1;
  }
}

/** Jobs or hires per step. */
const AT_ONCE = 100;
/** Most lots of people that one reconcile reads a second time; the rest is remembered. */
const MOST_LOTS = 2;

/**
 * Hints hires whose person was in no list: a reason to read them, but no proof. If nobody follows the hire, a second
 * reading is stored as due.
 */
async function noteAbsent(run: Run): Promise<boolean> {
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
    // An open hire may end before it hears this; its new run looks at the person all the same.
    await deps.signalHire(ref, 'person', { start: true, watch: true });
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

/** Marks jobs whose people are all known as listed, with the totals from before the reading. */
async function markJobs(run: Run): Promise<boolean> {
  const { deps, tenantId, plan, position } = run;
  const jobs = plan.jobs.slice(position.list * AT_ONCE, (position.list + 1) * AT_ONCE);
  if (jobs.length === 0) return true;
  const whole = jobs.filter(({ jobId }) => !plan.broken.includes(UNKNOWN_JOB) && !plan.broken.includes(jobId));
  const ids = whole.map(({ jobId }) => jobId);
  const shown = await countSeenByStage(deps.store, tenantId, ids);
  const stages = hiringStagesOf(run.connection.tenant);
  const differences = new Map<string, string>();
  for (const { jobId, totals } of whole) {
    const unshown = plan.cut?.[jobId];
    const difference = unshown === undefined ? unlikeTotals(totals, shown.get(jobId), stages) : `without ${unshown}`;
    if (difference !== undefined) differences.set(jobId, difference);
  }
  const known = differences.size === 0 ? [] : await readJobs(deps.store, tenantId, [...differences.keys()]);
  const listed = new Map(known.map((job) => [job.jobId, job.listedTotals]));
  const noted = whole.map(({ jobId, totals }) => {
    return { jobId, totals: totalsToNote(totals, differences.get(jobId), listed.get(jobId)) };
  });
  await markListed(deps.store, tenantId, noted);
  run.position = { ...position, list: position.list + 1 };
  return false;
}

/** Tests the partner's filter on the longest list that was read. */
async function proveFilter({ deps, connection, tenantId }: Run): Promise<boolean> {
  const [longest] = await countSeenByJob(deps.store, tenantId);
  if (longest === undefined) return true;
  const [jobId] = longest;
  const memberIds = await readHiredOf(deps.store, tenantId, jobId);
  await proveStageFilter(deps.store, connection, { jobId, memberIds });
  return true;
}

/**
 * Ends the period of hires that nobody follows and whose person is gone at a second reading too, after the tenant's
 * grace: if they come back, that is a new period. A person who was moved out and back by mistake keeps their period.
 */
async function readLeavers(run: Run): Promise<boolean> {
  const { deps, tenantId, position } = run;
  const noted = await readHints(deps.store, tenantId, 'absent', AT_ONCE);
  if (noted.length === 0) return true;
  const { grace } = run.connection.tenant.policies.cancel;
  const goneBefore = (await readClock(deps.store)) - grace;
  const due = noted.filter(({ hintedAt }) => hintedAt <= goneBefore);
  if (due.length === 0) return true;
  const ids = due.map(({ recordId }) => recordId);
  const hires = await latestHires(deps.store, tenantId, ids);
  // All at once: no matter how many, they share one list.
  const read = await Promise.all(due.map((hint) => readAgain(run, hint, hires.get(hint.recordId))));
  const settled = read.filter((hint) => hint !== undefined);
  await clearHints(deps.store, tenantId, 'absent', settled);
  run.position = { ...position, list: position.list + 1 };
  return due.length < AT_ONCE || run.position.list >= MOST_LOTS;
}

/** Reads the person again and returns the hint if that settles it. */
async function readAgain(run: Run, hint: Hint, hire: HireRow | undefined): Promise<Hint | undefined> {
  const { deps, connection, tenantId } = run;
  if (hire === undefined || !isResting(hire.state)) return hint;
  const stages = hiringStagesOf(connection.tenant);
  const read = readPresence(deps.store, connection, hint.recordId, stages);
  const presence = await read.catch(unless('RECORD_UNREADABLE', 'STAGE_LIST_SHORT'));
  if (presence === undefined) {
    // An unreadable record delays nobody else; it is read again next time, after the others.
    run.counts.unreadable += 1;
    await addHints(deps.store, tenantId, 'absent', [hint.recordId]);
    return undefined;
  }
  if (presence.verdict !== 'in') await moveResting(deps.store, hire, 'left');
  return hint;
}

/** Does the next part of a step and stores in `run.position` what comes next. Returns true when the step is over. */
type Step = (run: Run) => Promise<boolean>;

const steps: Record<Exclude<StepName, 'end'>, Step> = {
  jobs: listJobs,
  traces: listOwnEnrolments,
  people: listPeople,
  enrolled: nameEnrolled,
  record: recordHired,
  ask: askAboutOthers,
  absent: noteAbsent,
  mark: markJobs,
  golive: goLive,
  proof: proveFilter,
  leavers: readLeavers,
  onboardings: lookAtOnboardings,
  'open-hires': signalOpenHires,
  unfollowed: signalUnfollowed,
  lost: openLost,
};

/** Most parts per attempt. */
const MOST_BITS = 100;
const MOST_MS = 30_000;

/**
 * Compares the partner with `hires` and hints the differences. It decides nothing: each hinted hire reads again. The
 * jobs list comes first and also proves that the key belongs to the right company, so that nothing starts under another
 * company's key. The store keeps progress page by page: an attempt continues where the last one stopped, and gives its
 * slot back with RECONCILE_GOES_ON when it has done its share.
 */
export function reconcile(deps: ActivityDeps, { tenantId }: { tenantId: string }): Promise<Reconciled> {
  return guarded(deps, tenantId, async (connection) => {
    const until = performance.now() + MOST_MS;
    const run = await openRun(deps, connection);
    for (let bits = 0; run.position.step !== 'end'; bits += 1) {
      if (bits >= MOST_BITS || performance.now() > until) {
        await saveRun(run, true);
        throw paused(tenantId);
      }
      const { step } = run.position;
      if (await steps[step](run)) run.position = startOf(nextStep(run.kind, step));
      await saveRun(run);
    }
    return finish(run);
  });
}

async function finish(run: Run): Promise<Reconciled> {
  const { deps, connection, tenantId, holder, kind, plan } = run;
  const { store, log } = deps;
  await signalOutOfScope(run);
  await signalOffUnlisted(run);
  await askAboutUnshown(run);
  await watchFields(deps, connection);
  const seen = await countSeen(store, tenantId);
  const people = kind === 'baseline' ? seen.hired + seen.rejected : seen.hired;
  const counts = { ...run.counts, people, unreadable: run.counts.unreadable + seen.unreadable };
  await clearHints(store, tenantId, 'people', plan.hints);
  const reconciledAt = await recordReconcile(store, tenantId, kind !== 'changed');
  deps.lastReconcile.note(tenantId, reconciledAt);
  if (run.isSaved) await endReconcile(store, tenantId, holder);
  log.info({ tenantId, kind, full: kind !== 'changed', ...counts }, 'tenant reconciled');
  return { ...counts, reconciledAt };
}

/**
 * Continues the tenant's interrupted reconcile or begins a new one. If the store knows only reconciles before the last
 * one, it was restored from a backup.
 */
async function openRun(deps: ActivityDeps, connection: Connection): Promise<Run> {
  const { store, log } = deps;
  const tenantId = connection.tenant.tenant;
  const state = await readTenantState(store, tenantId);
  const isRestored = Number(state.reconciled_at ?? 0) < (await deps.lastReconcile.read(tenantId));
  if (isRestored) {
    log.error({ tenantId }, 'the store was restored: everything is compared anew');
    await noticeRestored(store);
  }
  const known = isRestored ? await readTenantState(store, tenantId) : state;
  const scope = scopeOf(known, await readClock(store));
  const common = { deps, connection, tenantId, holder: randomUUID(), isPlanChanged: false, pageBefore: '' };
  const saved = await takeReconcile<Plan, Position, ReconcileCounts>(store, tenantId, common.holder);
  const position = saved && goesOnFrom(saved, scope);
  if (saved !== undefined && position !== undefined) return { ...common, ...saved, position, isSaved: true };
  if (saved !== undefined) await endReconcile(store, tenantId, common.holder);
  const kind = kindOf(scope);
  const run: Run = { ...common, ...(await begin(deps, connection, kind)), isSaved: false };
  await saveRun(run, kind !== 'changed' || run.plan.jobs.length > 0);
  return run;
}

async function begin(
  { store }: ActivityDeps,
  connection: Connection,
  kind: ReconcileKind,
): Promise<Pick<Run, 'kind' | 'plan' | 'position' | 'counts'>> {
  const tenantId = connection.tenant.tenant;
  const hints = await readHints(store, tenantId, 'people');
  const none = { jobsListed: 0, people: 0, started: 0, hinted: 0, unreadable: 0 };
  const position = startOf(firstStep(kind));
  if (kind === 'baseline') {
    await startBaseline(store, tenantId);
    return { kind, plan: { jobs: [], isWide: false, broken: [], hints }, position, counts: { jobs: 0, ...none } };
  }
  const { jobs: all, unreadable } = await refreshJobs(store, connection);
  const hinted = new Set(hints.map((hint) => hint.recordId));
  const unlisted = await unlistedJobs({ store, tenantId, kind }, hinted, all);
  const listed = jobsToList(all, kind !== 'changed', hinted);
  const jobs = listed.map(({ jobId, totals }) => ({ jobId, totals }));
  const counts = { ...none, jobs: all.length, jobsListed: jobs.length, unreadable: unreadable.length };
  const isWide = kind !== 'changed' && jobs.length > 1;
  return { kind, plan: { jobs, isWide, broken: [], hints, unlisted }, position, counts };
}

/** Signals hires without an employee whose job left the scope: each hire reads that itself and opens a hold. */
async function signalOutOfScope({ deps, connection, tenantId, counts }: Run): Promise<void> {
  if (connection.tenant.scope === undefined) return;
  const { store } = deps;
  const open = (await hiresInState(store, tenantId, 'open')).filter((hire) => hire.employee_id === null);
  const openIds = open.map((hire) => hire.job_candidate_id);
  const asked = await everHeld(store, { tenantId, code: 'JOB_LEFT_SCOPE' }, openIds);
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
