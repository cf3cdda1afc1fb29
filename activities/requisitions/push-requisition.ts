import { holdOf } from '../../src/hire/holds.ts';
import type { Requisition } from '../../src/hris/port.ts';
import { findJob, type ListedJob, mayBeOurs } from '../../src/plan/plan-requisition.ts';
import { openHold, readHold } from '../../src/store/holds.ts';
import type { RequisitionRow } from '../../src/store/push-tables.ts';
import { linkRequisition, settleRequisition } from '../../src/store/requisitions.ts';
import { createJob } from './create-job.ts';
import type { RequisitionRun } from './requisition-run.ts';
import { type WantedJob, wantedJob } from './wanted-job.ts';

/** What the pass did with one requisition. */
export type Pushed =
  | { kind: 'known'; wanted: WantedJob; job: ListedJob; isNew: boolean }
  | { kind: 'created'; wanted: WantedJob }
  | { kind: 'settled' }
  | { kind: 'waiting'; waitMs: number }
  | { kind: 'skipped' | 'quarantined' | 'held'; reason: string };

/** Brings one open requisition to its one job: finds it, makes it, or says why not. */
export async function pushRequisition(run: RequisitionRun, requisition: Requisition): Promise<Pushed> {
  const { id } = requisition;
  const row = run.rows.get(id);
  const seen = findJob(run.jobs, run.settings.reference, id);
  if (seen.kind === 'many')
    return {
      kind: 'quarantined',
      reason: `jobs ${seen.jobIds.join(' and ')} carry its id: take it out of all but one`,
    };
  const wanted = wantedJob(requisition, run.mapping, run.settings, run.defined);
  const job = seen.kind === 'one' ? seen.job : run.jobs.find((one) => one.id === row?.job_id);
  if (job !== undefined) return known(run, { wanted, job, row, id });
  if (row?.state === 'created') return { kind: 'skipped', reason: `its job ${row.job_id ?? ''} is no longer listed` };
  if (row?.state === 'dismissed') return { kind: 'settled' };
  if ('reason' in wanted) return { kind: 'quarantined', reason: wanted.reason };
  if (row?.state === 'sent') return settleSent(run, wanted, row);
  return row?.state === 'held' ? takeAnswer(run, wanted, row) : create(run, wanted, row);
}

async function known(
  run: RequisitionRun,
  {
    wanted,
    job,
    row,
    id,
  }: { wanted: WantedJob | { reason: string }; job: ListedJob; row?: RequisitionRow | undefined; id: string },
): Promise<Pushed> {
  if (row?.state !== 'created' || row.job_id !== job.id)
    await linkRequisition(run.deps.store, { tenant_id: run.key.tenantId, requisition_id: id }, job.id);
  if ('reason' in wanted) return { kind: 'quarantined', reason: wanted.reason };
  return { kind: 'known', wanted, job, isNew: row?.run_id === run.runId };
}

async function create(run: RequisitionRun, wanted: WantedJob, before: RequisitionRow | undefined): Promise<Pushed> {
  const created = await createJob(run, wanted, before);
  if (created.kind === 'created') return { kind: 'created', wanted };
  if (created.kind === 'refused') return { kind: 'quarantined', reason: created.reason };
  return { kind: 'waiting', waitMs: run.deps.limits.giveUpMs + run.deps.limits.partnerLagMs };
}

/** A request without an answer: found, not found by its deadline, or not to be told. */
async function settleSent(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  const { deps, jobs, settings, now } = run;
  const waitMs = (row.give_up_at ?? 0) + deps.limits.partnerLagMs - now;
  if (waitMs > 0) return { kind: 'waiting', waitMs };
  const jobIds = mayBeOurs(jobs, settings.reference, row.sent_at ?? 0);
  return jobIds.length > 0 ? ask(run, row, jobIds) : createAgain(run, wanted, row);
}

async function createAgain(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  await settleRequisition(run.deps.store, row, { state: 'absent' });
  return create(run, wanted, { ...row, state: 'absent' });
}

/** One question of a tenant stands open at a time; the others wait their turn. */
async function ask({ deps, key }: RequisitionRun, row: RequisitionRow, jobIds: string[]): Promise<Pushed> {
  const { store } = deps;
  const requisitionId = row.requisition_id;
  const hold = holdOf('REQUISITION_UNKNOWN', { requisitionId, jobIds });
  const { holdId } = await openHold(store, { tenantId: key.tenantId, ...hold });
  const details = (await readHold(store, holdId))?.details ?? '{}';
  const isOurs = (JSON.parse(details) as { requisitionId?: unknown }).requisitionId === requisitionId;
  await settleRequisition(store, row, { state: 'held', hold_id: isOurs ? holdId : null });
  return { kind: 'held', reason: 'whether its job was made, a person must say' };
}

async function takeAnswer(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  const { store } = run.deps;
  const hold = row.hold_id === null ? undefined : await readHold(store, row.hold_id);
  const [jobId = ''] = JSON.parse(hold?.answer_arguments ?? '[]') as string[];
  if (hold?.answer === 'link-job') return linkNamed(run, wanted, row, jobId);
  if (hold?.answer === 'create-job') return createAgain(run, wanted, row);
  if (hold?.answer === 'retry') return settleSent(run, wanted, row);
  if (hold?.answer !== 'dismiss') return ask(run, row, mayBeOurs(run.jobs, run.settings.reference, row.sent_at ?? 0));
  await settleRequisition(store, row, { state: 'dismissed' });
  return { kind: 'settled' };
}

async function linkNamed(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow, jobId: string): Promise<Pushed> {
  const job = run.jobs.find(({ id }) => id === jobId);
  if (job !== undefined) return known(run, { wanted, job, row, id: wanted.id });
  await settleRequisition(run.deps.store, row, { state: 'held', hold_id: null });
  return { kind: 'held', reason: `the hiring platform lists no job ${jobId}, which a person named` };
}
