import { isConnectorError } from '../../src/errors.ts';
import { isResting } from '../../src/hire/hire-state.ts';
import type { HoldCode } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { clearHintsUntil } from '../../src/store/hints.ts';
import { latestHires } from '../../src/store/hires.ts';
import { hiresHeld } from '../../src/store/holds.ts';
import { readJobs } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { addSeen, countSeenByJob, type SeenPerson } from '../../src/store/seen-people.ts';
import { readClock } from '../../src/store/tenant-states.ts';
import { assertMoved } from '../../src/streams/read-page.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import { readStagePage, type StageList, type StageMember, type StagePage } from '../presence/list-stage.ts';
import { cannotGoLive } from './cannot-go-live.ts';
import { shortJobs, startsNow, waitsForCreateStage } from './decisions.ts';
import { afterPage, startOfList } from './list-cursor.ts';
import type { Run } from './run.ts';

/** Asks how the hire of somebody ends who left; seen in the stage again, they need no answer. */
const BACK = 'TOO_MANY_CANCELLATIONS' satisfies HoldCode;

/** Stands for the job of a record that cannot be read and was shown by a list of the whole company. */
const UNKNOWN_JOB = 'unknown';

/**
 * Reads one page of the people in hiring stages: of the whole company where that is to be compared, which costs a call
 * for each hundred people and not one for each job. A partner that refuses such a list is asked job by job, and so are
 * the jobs of which it shows fewer people than their totals say.
 */
export async function listPeople(run: Run): Promise<boolean> {
  const { plan, position } = run;
  const list = listsOf(run)[position.list];
  if (list === undefined) return !(await findShortJobs(run));
  try {
    const page = await readStagePage(run.connection, list, position.cursor.page);
    if (page !== undefined) await takePage(run, list, page);
    const cursor = afterPage(position.cursor, page, run.kind === 'baseline');
    if (cursor === undefined || cursor.page !== position.cursor.page + 1) run.pageBefore = '';
    run.position =
      cursor === undefined ? { ...position, list: position.list + 1, cursor: startOfList() } : { ...position, cursor };
  } catch (error) {
    if (list.jobId !== undefined || !plan.isWide || !isConnectorError(error) || error.action !== 'reject') throw error;
    run.plan = { ...plan, isWide: false };
    run.isPlanChanged = true;
    run.position = { ...position, list: 0, cursor: startOfList() };
  }
  return false;
}

/** In the order in which they are read. */
function listsOf({ connection, plan }: Run): StageList[] {
  const stages = hiringStagesOf(connection.tenant);
  const jobIds = plan.isWide ? (plan.short ?? []) : plan.jobs.map(({ jobId }) => jobId);
  const ofCompany = plan.isWide ? stages.map((stage) => ({ stage })) : [];
  return [...ofCompany, ...jobIds.flatMap((jobId) => stages.map((stage) => ({ stage, jobId })))];
}

/** Once the company's lists are read. True when there are jobs to be listed apart. */
async function findShortJobs(run: Run): Promise<boolean> {
  const { plan, tenantId } = run;
  const { store } = run.deps;
  if (!plan.isWide || plan.short !== undefined) return false;
  const seen = await countSeenByJob(store, tenantId);
  const listed = new Set(plan.jobs.map(({ jobId }) => jobId));
  const jobs = (await readJobs(store, tenantId)).filter(({ jobId }) => listed.has(jobId));
  const short = shortJobs(jobs, seen, hiringStagesOf(run.connection.tenant));
  run.plan = { ...plan, short };
  run.isPlanChanged = true;
  return short.length > 0;
}

async function takePage(run: Run, list: StageList, page: StagePage): Promise<void> {
  const { members, unreadable } = page;
  const ids = members.map((member) => member.jobCandidateId).join(' ');
  assertMoved({ list: contract.jobCandidates.listByStageType }, run.position.cursor.page, ids, run.pageBefore);
  run.pageBefore = ids;
  const people = members.map(asSeen);
  for (const item of unreadable) {
    noteBroken(run, list.jobId ?? UNKNOWN_JOB);
    const { jobId = null } = list;
    if (item.id !== undefined) people.push({ jobCandidateId: item.id, candidateId: null, jobId, seen: 'unreadable' });
    else if (run.kind === 'baseline') throw cannotGoLive(run.tenantId, `Somebody hired${onJob(list)} has`, item);
    else run.counts.unreadable += 1;
  }
  await addSeen(run.deps.store, run.tenantId, people);
  if (run.kind !== 'baseline') await startMissing(run, list, members);
}

function asSeen({ jobCandidateId, candidateId, jobId, rejected }: StageMember): SeenPerson {
  return { jobCandidateId, candidateId, jobId, seen: rejected ? 'rejected' : 'hired' };
}

function onJob({ jobId }: StageList): string {
  return jobId === undefined ? '' : ` on job ${jobId}`;
}

/** With a record unreadable the job is listed again next time, or its person would be missed for a day. */
function noteBroken(run: Run, jobId: string): void {
  if (run.plan.broken.includes(jobId)) return;
  run.plan = { ...run.plan, broken: [...run.plan.broken, jobId] };
  run.isPlanChanged = true;
}

/** Everyone in a hiring stage without a hire. */
async function startMissing(run: Run, { stage }: StageList, members: readonly StageMember[]): Promise<void> {
  const { deps, tenantId, counts, connection } = run;
  const present = [...new Set(members.filter((one) => !one.rejected).map((one) => one.jobCandidateId))];
  // A stage that creates employees and enrols nobody.
  const hasArrived = !connection.tenant.policies.enrolAt.includes(stage);
  const known = await latestHires(deps.store, tenantId, present);
  const back = present.filter((id) => isResting(known.get(id)?.state ?? 'open'));
  if (back.length > 0) await clearAbsence(deps.store, tenantId, back);
  const isOpen = present.some((id) => known.get(id)?.state === 'open');
  const held = isOpen ? await hiresHeld(deps.store, { tenantId, code: BACK }) : new Set();
  for (const jobCandidateId of present) {
    const hire = known.get(jobCandidateId);
    const starts = startsNow(hire);
    if (!starts && !held.has(jobCandidateId) && !(hasArrived && waitsForCreateStage(hire))) continue;
    await deps.signalHire({ tenantId, jobCandidateId }, 'person', { start: true });
    counts[starts ? 'started' : 'hinted'] += 1;
  }
}

/** Who is seen in the stage again was not away for good. */
async function clearAbsence(store: Store, tenantId: string, jobCandidateIds: readonly string[]): Promise<void> {
  await clearHintsUntil(store, { tenantId, stream: 'absent', until: await readClock(store) }, jobCandidateIds);
}

/** Whether this job's people are all known by now. */
export function isWhole({ broken }: Run['plan'], jobId: string): boolean {
  return !broken.includes(UNKNOWN_JOB) && !broken.includes(jobId);
}
