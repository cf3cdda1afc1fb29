import { ConnectorError } from '../../src/errors.ts';
import { holdOf } from '../../src/hire/holds.ts';
import type { ReconcileCounts } from '../../src/hire/reconcile-activities.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { insertBaseline, insertHires, latestHire, type NewHire, updateHire } from '../../src/store/hires.ts';
import { openHold } from '../../src/store/holds.ts';
import { markListed } from '../../src/store/jobs.ts';
import { finishBaseline, startBaseline } from '../../src/store/tenant-states.ts';
import { hiringStagesOf } from '../../src/tenants/hiring-stages.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { employeeReference, readEnrolmentReference } from '../hire/hire-references.ts';
import { listStage, type StageMember, type StagePage } from '../presence/list-stage.ts';
import { proveStageFilter } from '../presence/prove-stage-filter.ts';
import type { ListedJob, ListedJobs } from './refresh-jobs.ts';

/** An enrolment that carries our reference although our store knows nothing of it. */
interface OwnTrace {
  period: number;
  enrolment: number;
  onboardingCandidateId: string;
  reference: string;
}

/**
 * The first reconcile of a tenant. Everyone already hired is recorded as before go-live and none is started. Where the
 * partner or the HRIS carries references of ours, this store was lost and rebuilt: those hires are opened again and
 * finished, and the others, of whom nobody can tell whether they were work, are named in one hold.
 */
export async function recordBaseline(
  deps: ActivityDeps,
  connection: Connection,
  { jobs, unreadable }: ListedJobs,
  counts: ReconcileCounts,
): Promise<void> {
  const { store, log } = deps;
  const tenantId = connection.tenant.tenant;
  for (const job of unreadable) if (job.id === undefined) throw cannotGoLive(tenantId, 'A job has', job);
  await startBaseline(store, tenantId);
  const traces = await listOwnEnrolments(connection);
  const hired = await listHired(connection, jobs, counts);
  const ours = await findOurs(connection, hired.members, traces);
  const others = hired.members.filter((member) => !ours.has(member.jobCandidateId));
  const before = others.map((member) => newHire(tenantId, member, 1, 'before-go-live'));
  before.push(...hired.unreadable);
  if (!(await insertBaseline(store, tenantId, before))) return;
  for (const [, { member, trace }] of ours) await reopen(deps, tenantId, member, trace);
  // Also a reference of somebody who has left since tells that this store was rebuilt.
  if (ours.size + traces.size > 0 && others.length > 0) await askAboutOthers(deps, tenantId, others);
  for (const job of jobs) await markListed(store, tenantId, job.jobId, job.totals);
  await finishBaseline(store, tenantId);
  await proveStageFilter(store, connection, hired.members);
  counts.started += ours.size;
  log.info({ tenantId, beforeGoLive: before.length, adopted: ours.size }, 'baseline complete');
}

async function listOwnEnrolments({ partner }: Connection): Promise<Map<string, OwnTrace>> {
  const traces = new Map<string, OwnTrace>();
  for await (const { items } of partner.pages(contract.onboarding.listCandidates, {}, { priority: 'bulk' })) {
    for (const item of items) {
      const own = readEnrolmentReference(item.externalRef);
      if (own === undefined) continue;
      const trace = {
        ...own,
        onboardingCandidateId: item.onboardingCandidateId,
        reference: item.externalRef ?? '',
      };
      const known = traces.get(own.jobCandidateId);
      if (known === undefined || isLater(trace, known)) traces.set(own.jobCandidateId, trace);
    }
  }
  return traces;
}

function isLater(a: OwnTrace, b: OwnTrace): boolean {
  return a.period > b.period || (a.period === b.period && a.enrolment > b.enrolment);
}

interface Hired {
  members: StageMember[];
  /** In a hiring stage by the list, though their record cannot be read: hired before go-live like the others. */
  unreadable: NewHire[];
}

async function listHired(connection: Connection, jobs: readonly ListedJob[], counts: ReconcileCounts): Promise<Hired> {
  const members = new Map<string, StageMember>();
  const unreadable = new Map<string, NewHire>();
  for (const job of jobs) {
    counts.jobsListed += 1;
    for (const stage of hiringStagesOf(connection.tenant)) {
      for await (const page of readStageAtRest(connection, job.jobId, stage)) {
        for (const member of page.members) members.set(member.jobCandidateId, member);
        for (const item of page.unreadable) {
          const hire = unreadableHire(connection.tenant.tenant, job.jobId, item);
          unreadable.set(hire.jobCandidateId, hire);
        }
      }
    }
  }
  counts.unreadable += unreadable.size;
  counts.people += members.size;
  return {
    members: [...members.values()],
    unreadable: [...unreadable.values()].filter((hire) => !members.has(hire.jobCandidateId)),
  };
}

/**
 * A list of one page cannot shift while it is read. A longer one is read twice: who is passed over by both must have
 * moved twice.
 */
async function* readStageAtRest(connection: Connection, jobId: string, stage: string): AsyncGenerator<StagePage> {
  let pages = 0;
  for await (const page of listStage(connection, jobId, stage, 'bulk')) {
    pages += 1;
    yield page;
  }
  if (pages > 1) yield* listStage(connection, jobId, stage, 'bulk');
}

function unreadableHire(tenantId: string, jobId: string, item: UnreadableItem): NewHire {
  if (item.id === undefined) throw cannotGoLive(tenantId, `Somebody hired on job ${jobId} has`, item);
  return { tenantId, jobCandidateId: item.id, period: 1, state: 'before-go-live', candidateId: null, jobId };
}

/** Without an id nobody could tell later who was hired before. */
function cannotGoLive(tenantId: string, whoHas: string, { reason }: UnreadableItem): ConnectorError {
  return new ConnectorError({
    code: 'BASELINE_UNREADABLE',
    action: 'retry',
    message:
      `${whoHas} a record without an id (${reason}), so tenant ${tenantId} cannot go live: people hired before ` +
      'would be hired again. Correct the record with the partner, or name the difference in partner.overrides; ' +
      'the next reconcile goes on by itself.',
  });
}

async function findOurs(
  { hris, tenant }: Connection,
  hired: readonly StageMember[],
  traces: ReadonlyMap<string, OwnTrace>,
): Promise<Map<string, { member: StageMember; trace: OwnTrace | undefined }>> {
  const ours = new Map<string, { member: StageMember; trace: OwnTrace | undefined }>();
  const mayHoldReference = hris.capabilities.storesReference;
  for (const member of hired) {
    const trace = traces.get(member.jobCandidateId);
    if (
      trace !== undefined ||
      (mayHoldReference && (await isEmployee(hris, employeeReference(tenant, member.candidateId))))
    )
      ours.set(member.jobCandidateId, { member, trace });
  }
  return ours;
}

async function isEmployee(hris: Connection['hris'], reference: string): Promise<boolean> {
  return (
    (await hris.employees.find({ by: 'reference', value: reference }, AbortSignal.timeout(30_000))).kind !== 'none'
  );
}

async function reopen(
  { store, signalHire }: ActivityDeps,
  tenantId: string,
  member: StageMember,
  trace: OwnTrace | undefined,
): Promise<void> {
  const hire = newHire(tenantId, member, trace?.period ?? 1, 'open');
  if ((await latestHire(store, tenantId, member.jobCandidateId)) === undefined) await insertHires(store, [hire]);
  if (trace !== undefined)
    await updateHire(
      store,
      hire,
      {
        enrolment: trace.enrolment,
        onboarding_candidate_id: trace.onboardingCandidateId,
        onboarding_reference: trace.reference,
      },
      { enrolment: 1 },
    );
  await signalHire({ tenantId, jobCandidateId: member.jobCandidateId }, 'person', { start: true });
}

async function askAboutOthers(
  { store }: ActivityDeps,
  tenantId: string,
  others: readonly StageMember[],
): Promise<void> {
  const jobCandidateIds = others.map((member) => member.jobCandidateId);
  await openHold(store, {
    tenantId,
    ...holdOf('REBUILT_BASELINE', { jobCandidateIds }),
  });
}

function newHire(tenantId: string, member: StageMember, period: number, state: NewHire['state']): NewHire {
  return {
    tenantId,
    jobCandidateId: member.jobCandidateId,
    period,
    state,
    candidateId: member.candidateId,
    jobId: member.jobId,
  };
}
