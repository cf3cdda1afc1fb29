import pLimit from 'p-limit';
import { type ConnectorError, rejected } from '../../src/errors.ts';
import { followedStates } from '../../src/hire/hire.ts';
import { holdOf } from '../../src/hire/holds.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { terminalStatuses } from '../../src/partner/contract/onboarding.ts';
import { shownEmployeeId } from '../../src/plan/plan-write-back.ts';
import { observes } from '../../src/store/freezes.ts';
import { addHints, clearHints, readHints } from '../../src/store/hints.ts';
import { baselineHires, endEarlier } from '../../src/store/hire-states.ts';
import { insertHires, latestHire, latestHires, type NewHire, updateHire } from '../../src/store/hires.ts';
import { askAnew, openHold, tenantHoldsOf } from '../../src/store/holds.ts';
import { baselinesBeside, insertBaseline, isErased } from '../../src/store/observed-hires.ts';
import { inTransaction, type Store } from '../../src/store/open-store.ts';
import { recordPeople } from '../../src/store/persons.ts';
import {
  addTraces,
  hasTraces,
  jobsOfHires,
  nameTraced,
  nextTraced,
  readAbsent,
  readSeen,
  readTraces,
  type SeenPerson,
  tracedCandidates,
} from '../../src/store/reconciles.ts';
import type { HireRow, HoldRow } from '../../src/store/schema.ts';
import { finishBaseline, readTenantState, siblingsOf } from '../../src/store/tenant-states.ts';
import type { ReconcileKind } from '../../src/store/tenant-tables.ts';
import type { ActivityDeps, Connection } from '../connections.ts';
import { hearAnswer } from '../hear-answer.ts';
import { isInScope } from '../hire/read-sources.ts';
import { employeeReference, personOf, readEnrolmentReference } from '../hire/with-hire.ts';
import { fetchJobCandidates, isRejected, onePage } from '../presence/fetch-job-candidates.ts';
import { refreshJobsPage } from './refresh-jobs.ts';
import { afterPage, type Run, startOf } from './run.ts';

/*
 * The first reconcile of a tenant. Records everyone already hired as before go-live and starts no hire for them. If the
 * partner or the HRIS carries references of ours, this store was lost and rebuilt: hires with a reference are opened
 * again and finished, and one hold names the others, because nobody can tell whether they were work in progress. People
 * who have left since are searched as after a restore.
 */

/** People recorded, or fetched, in one step. */
const AT_ONCE = 100;
/** Ask a slow HR system about several people at a time, but about fewer than an activity has time to wait for. */
const LOOKS_AT_ONCE = 4;

/** An enrolment that carries our reference although our store does not know it. */
interface OwnTrace {
  period: number;
  enrolment: number;
  onboardingCandidateId: string;
  reference: string;
  /** The onboarding has ended, in any status, and tells of no employee who may carry our reference. */
  isOver: boolean;
}

/** Reads one page of the jobs list. */
export async function listJobs(run: Run): Promise<boolean> {
  const { plan, position, tenantId } = run;
  const page = await refreshJobsPage(run.deps.store, run.connection, position.cursor.page);
  for (const job of page?.unreadable ?? []) if (job.id === undefined) throw cannotGoLive(tenantId, 'A job has', job);
  const known = new Map(plan.jobs.map((job) => [job.jobId, job]));
  for (const { jobId, totals } of page?.jobs ?? []) known.set(jobId, { jobId, totals });
  const jobs = [...known.values()];
  run.plan = { ...plan, jobs, isWide: jobs.length > 1 };
  run.isPlanChanged = true;
  run.counts.jobs = jobs.length;
  run.counts.jobsListed = jobs.length;
  run.counts.unreadable += page?.unreadable.length ?? 0;
  const cursor = afterPage(position.cursor, page, false);
  if (cursor === undefined) return true;
  run.position = { ...position, cursor };
  return false;
}

/** Reads one page of the enrolments. */
export async function listOwnEnrolments(run: Run): Promise<boolean> {
  const { deps, tenantId, position } = run;
  const options = { priority: 'bulk', from: position.cursor.page } as const;
  const page = await onePage(run.connection.partner.pages(contract.onboarding.listCandidates, {}, options));
  const traces = new Map<string, OwnTrace>();
  const { storesReference } = run.connection.hris.capabilities;
  for (const { externalRef, onboardingCandidateId, overallStatus, externalStatus } of page?.items ?? []) {
    const own = readEnrolmentReference(externalRef);
    if (own === undefined) continue;
    const { jobCandidateId, period, enrolment } = own;
    // The partner may have merged the candidate whose reference the employee carries into another one.
    const isTold = storesReference && shownEmployeeId(externalStatus) !== undefined;
    const isOver = terminal.has(String(overallStatus)) && !isTold;
    const reference = externalRef ?? '';
    keepLatest(traces, jobCandidateId, { period, enrolment, onboardingCandidateId, reference, isOver });
  }
  for (const [id, trace] of await readTraces<OwnTrace>(deps.store, tenantId, [...traces.keys()]))
    keepLatest(traces, id, trace);
  await addTraces(deps.store, tenantId, traces);
  const cursor = afterPage(position.cursor, page, false);
  if (cursor === undefined) return true;
  run.position = { ...position, cursor };
  return false;
}

const terminal: ReadonlySet<string> = new Set(terminalStatuses);

function keepLatest(traces: Map<string, OwnTrace>, id: string, trace: OwnTrace): void {
  const { period, enrolment } = traces.get(id) ?? { period: 0, enrolment: 0 };
  if (trace.period > period || (trace.period === period && trace.enrolment > enrolment)) traces.set(id, trace);
}

/**
 * Learns whose the next enrolled applications are that no list showed, as they left the stage: an employee of such a
 * person is the work of that application, not of another one that is hired.
 */
export async function nameEnrolled(run: Run): Promise<boolean> {
  const { deps, connection, tenantId, position } = run;
  const ids = await nextTraced(deps.store, tenantId, { after: position.after, limit: AT_ONCE, unseen: true });
  const last = ids.at(-1);
  if (last === undefined) return true;
  const fetched = await fetchJobCandidates(connection, ids, 'bulk');
  const named = fetched.flatMap(({ jobCandidate: shown }, index) =>
    shown === undefined ? [] : [{ jobCandidateId: ids[index] ?? '', candidateId: shown.candidateId }],
  );
  await nameTraced(deps.store, tenantId, named);
  run.position = { ...position, after: last };
  return false;
}

/** Records the next batch of the people who were seen. */
export async function recordHired(run: Run): Promise<boolean> {
  const { deps, tenantId, position } = run;
  const { store } = deps;
  const seen = await readSeen(store, tenantId, { after: position.after, limit: AT_ONCE });
  const seenIds = seen.map((one) => one.jobCandidateId);
  const traces = await readTraces<OwnTrace>(store, tenantId, seenIds);
  const ours = await ownAmong(run, seen, traces);
  const before = seen.filter((one) => !ours.has(one)).map((one) => newHire(tenantId, one, 1, 'before-go-live'));
  const { tenant } = run.connection;
  const people = before.flatMap(({ candidateId, jobCandidateId, period }) => {
    if (typeof candidateId !== 'string') return [];
    const as = { how: 'baseline', tenantId, jobCandidateId, period } as const;
    return [{ ...personOf(tenant, candidateId), as }];
  });
  if (!(await insertBaseline(store, tenantId, before, people))) {
    // Another pass finished in the meantime: people hired since then are not old hires.
    run.position = startOf('end');
    return false;
  }
  for (const one of ours) await reopen(run, one, traces.get(one.jobCandidateId));
  run.counts.started += ours.size;
  const last = seen.at(-1);
  if (last === undefined) return true;
  run.position = { ...position, after: last.jobCandidateId };
  return false;
}

/** The first look runs alone, because an activity that has made a call may wait longer for its next permits. */
async function ownAmong(
  { deps: { store }, connection, tenantId }: Pick<Run, 'deps' | 'connection' | 'tenantId'>,
  seen: readonly SeenPerson[],
  traces: ReadonlyMap<string, OwnTrace>,
): Promise<ReadonlySet<SeenPerson>> {
  const [first, ...others] = seen;
  const own = new Set<SeenPerson>();
  // The employee of a person with several applications belongs to the one that we enrolled.
  const enrolled = await tracedCandidates(store, tenantId, seen);
  const look = async (one: SeenPerson): Promise<void> => {
    // Another tenant of the company takes the job and follows the people it enrolled.
    if ((await isInScope(store, connection, one.jobId)) && (await isOurs(one))) own.add(one);
  };
  const isOurs = async ({ jobCandidateId, candidateId }: SeenPerson): Promise<boolean> => {
    if (candidateId === null) return false;
    return traces.has(jobCandidateId) || (!enrolled.has(candidateId) && (await hasEmployee(connection, candidateId)));
  };
  if (first !== undefined) await look(first);
  const limit = pLimit(LOOKS_AT_ONCE);
  try {
    await Promise.all(others.map((one) => limit(() => look(one))));
  } finally {
    limit.clearQueue();
  }
  return own;
}

/** Whether the HR system shows an employee with our reference. */
async function hasEmployee({ hris, tenant }: Connection, candidateId: string): Promise<boolean> {
  if (!hris.capabilities.storesReference) return false;
  const value = employeeReference(tenant, candidateId);
  return (await hris.employees.find({ by: 'reference', value }, AbortSignal.timeout(30_000))).kind !== 'none';
}

/** Opens a hire for an enrolment or employee that is ours but unknown to the store, and starts its workflow. */
export async function reopen(
  { deps: { store, signalHire }, connection, tenantId }: Pick<Run, 'deps' | 'connection' | 'tenantId'>,
  person: Omit<SeenPerson, 'seen'>,
  trace: OwnTrace | undefined,
): Promise<void> {
  const { jobCandidateId } = person;
  if (await isErased(store, { tenantId, ...person })) return;
  const hire = newHire(tenantId, person, trace?.period ?? 1, 'open');
  const known = await latestHire(store, tenantId, jobCandidateId);
  if (known?.state === 'open' && known.period < hire.period) {
    // A workflow that runs may be about to write for the earlier hire, so only a new one begins with the later hire.
    await signalHire({ tenantId, jobCandidateId }, 'person', { start: true, behind: hire.period });
    return;
  }
  const earlier = known === undefined ? await forgottenBefore(connection, hire) : [];
  if (known === undefined || (known.state !== 'open' && known.period < hire.period)) {
    const isOpened = await inTransaction(store, async (trx) => {
      if (await isErased(trx, hire)) return false;
      if (known !== undefined) await endEarlier(trx, known);
      await insertHires(trx, [hire]);
      await recordPeople(trx, earlier);
      return true;
    });
    if (!isOpened) return;
  }
  if (trace !== undefined) {
    const { enrolment, onboardingCandidateId, reference } = trace;
    const found = { enrolment, onboarding_candidate_id: onboardingCandidateId, onboarding_reference: reference };
    await updateHire(store, hire, found, { enrolment: 1 });
  }
  await signalHire({ tenantId, jobCandidateId }, 'person', { start: true });
}

/**
 * The person of a later period was hired before, which this store has forgotten. Unless an employee carries our
 * reference, that may have been before go-live, with an employee who carries none.
 */
async function forgottenBefore(
  connection: Connection,
  { tenantId, jobCandidateId, candidateId, period }: NewHire,
): Promise<Parameters<typeof recordPeople>[1]> {
  if (period === 1 || typeof candidateId !== 'string' || (await hasEmployee(connection, candidateId))) return [];
  const as = { how: 'baseline', tenantId, jobCandidateId, period: 1 } as const;
  return [{ ...personOf(connection.tenant, candidateId), as }];
}

function newHire(tenantId: string, person: Omit<SeenPerson, 'seen'>, period: number, state: NewHire['state']): NewHire {
  const { jobCandidateId, candidateId, jobId } = person;
  return { tenantId, jobCandidateId, period, state, candidateId, jobId };
}

/**
 * A reference on a person who has left since also shows that this store was rebuilt, and so does an employee of ours
 * that another tenant of the company found: each asks for both, as either may come first. A tenant that only observes
 * had no hires under way, so nobody is asked for it.
 */
export async function askAboutOthers(run: Run): Promise<boolean> {
  const { deps, tenantId, counts } = run;
  const { store } = deps;
  const beside = await baselinesBeside(store, tenantId);
  const hasTakenUp = counts.started > 0;
  if (!hasTakenUp && !beside.some((one) => one.hasTakenUp) && !(await hasTraces(store, tenantId))) return true;
  const own = { tenantId, onlyObserves: observes(await readTenantState(store, tenantId)) };
  for (const { tenantId: asked, onlyObserves } of [own, ...(hasTakenUp ? beside : [])])
    if (!onlyObserves) await askAbout(deps, asked, 'REBUILT_BASELINE', await takenAmongRecorded(run, asked));
  return true;
}

/** The people whom this tenant of the company recorded as hired before go-live, and whose jobs it takes. */
async function takenAmongRecorded({ deps, connection, tenantId }: Run, asked: string): Promise<string[]> {
  const { store, connections } = deps;
  const recorded = await baselineHires(store, asked);
  const taken: string[] = [];
  try {
    const of = asked === tenantId ? connection : await connections.of(asked);
    for (const [jobId, hires] of Map.groupBy(recorded, (one) => one.jobId))
      if (await isInScope(store, of, jobId)) taken.push(...hires.map((one) => one.jobCandidateId));
    return taken;
  } catch (error) {
    if (asked === tenantId) throw error;
    // A fault of another tenant does not keep this one from going live; it only asks about too many people.
    deps.log.warn({ err: error, tenantId: asked }, 'scope of another tenant unknown');
    return recorded.map((one) => one.jobCandidateId);
  }
}

/** From now on, hires start. */
export async function goLive({ deps, tenantId, counts }: Run): Promise<boolean> {
  await finishBaseline(deps.store, tenantId);
  deps.log.info({ tenantId, adopted: counts.started }, 'baseline complete');
  return true;
}

export const BASELINE_UNREADABLE = 'BASELINE_UNREADABLE';

/** Without an id, nobody could tell later who was hired before go-live. */
export function cannotGoLive(tenantId: string, whoHas: string, { reason }: UnreadableItem): ConnectorError {
  return rejected(
    BASELINE_UNREADABLE,
    `${whoHas} a record without an id (${reason}), so tenant ${tenantId} cannot go live: people hired before ` +
      'would be hired again. Correct the record with the partner; the reconcile then continues by itself. Where all ' +
      'records lack an id, this partner shows it in a place that hirebridge does not know: report it.',
  );
}

/** People who are not shown now would be taken for new hires later. */
export function shortBaseline(
  tenantId: string,
  { jobId, shown, unshown }: { jobId: string; shown: number; unshown: number },
): ConnectorError {
  return rejected(
    'BASELINE_SHORT',
    `The list of people hired on job ${jobId} ended with an empty page after ${shown} of them. Its total and the ` +
      `job's own count say that there are ${unshown} more. Tenant ${tenantId} does not go live without them: they ` +
      'would be hired again. The next reconcile reads the list again. If it still ends there an hour after the ' +
      'baseline began, the totals are taken to be wrong and the tenant goes live.',
    { details: { jobId, shown, unshown } },
  );
}

/**
 * Asks a tenant one question about applications: new ids join it while nobody has answered. Ids that an earlier
 * question named are not asked about again: a deleted application does not come back, and a store is rebuilt once.
 */
export async function askAbout(
  deps: Pick<ActivityDeps, 'store' | 'signalHire'>,
  tenantId: string,
  code: 'HIRES_NOT_RESTORED' | 'REBUILT_BASELINE',
  ids: readonly string[],
): Promise<void> {
  const { store } = deps;
  for (;;) {
    // A question that was closed without an answer, with its removed tenant, is asked again.
    const holds = (await tenantHoldsOf(store, tenantId, code)).filter(
      (hold) => hold.closed_at === null || hold.answered_at !== null,
    );
    const asked = new Set(holds.flatMap(idsIn));
    const fresh = ids.filter((id) => !asked.has(id));
    if (fresh.length === 0) return;
    const open = holds.find((hold) => hold.closed_at === null);
    if (open === undefined) await openHold(store, { tenantId, ...holdOf(code, { jobCandidateIds: fresh }) });
    else if (open.answered_at === null)
      await askAnew(store, open.hold_id, {
        tenantId,
        ...holdOf(code, { jobCandidateIds: [...idsIn(open), ...fresh] }),
      });
    else await hearAnswer(deps, open);
  }
}

function idsIn({ details }: Pick<HoldRow, 'details'>): string[] {
  return (JSON.parse(details) as { jobCandidateIds: string[] }).jobCandidateIds;
}

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
