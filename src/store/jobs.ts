import { forgetPair } from './exchange-pairs.ts';
import { countOf, has, put, readClock, type Store } from './open-store.ts';
import type { RequisitionRow } from './push-tables.ts';
import { sealed } from './sealed-values.ts';
import { sendOnce, sentNow } from './send-once.ts';
import { changeTenant } from './tenant-states.ts';

export interface JobSnapshot {
  jobId: string;
  /** The jobs list item as received. */
  record: Record<string, unknown>;
  /** JSON of its stage totals when its people were last listed. */
  listedTotals: string | null;
  /** When its record was last written. */
  seenAt: number;
}

/** Stores the jobs as the jobs list shows them; the totals of the last listing of people stay. */
export async function saveJobs(
  store: Store,
  tenantId: string,
  jobs: ReadonlyArray<Pick<JobSnapshot, 'jobId' | 'record'>>,
) {
  const rows = jobs.map(async (job) => ({
    tenant_id: tenantId,
    job_id: job.jobId,
    record: await sealed(store, 'jobs.record', tenantId, JSON.stringify(job.record)),
    seen_at: store.now,
  }));
  await put(store, 'jobs', await Promise.all(rows), { key: ['tenant_id', 'job_id'], set: ['record', 'seen_at'] });
}

export async function readJob(store: Store, tenantId: string, jobId: string): Promise<JobSnapshot | undefined> {
  const row = await store.kysely
    .selectFrom('jobs')
    .selectAll()
    .where(has({ tenant_id: tenantId, job_id: jobId }))
    .executeTakeFirst();
  return row === undefined ? undefined : snapshot(row);
}

export async function countJobs(store: Store, tenantId: string): Promise<number> {
  return countOf(store.kysely.selectFrom('jobs').where('tenant_id', '=', tenantId));
}

/** All jobs of the tenant, or those with these ids. */
export async function readJobs(store: Store, tenantId: string, jobIds?: readonly string[]): Promise<JobSnapshot[]> {
  const all = store.kysely.selectFrom('jobs').selectAll().where('tenant_id', '=', tenantId);
  const rows = await (jobIds === undefined ? all : all.where('job_id', 'in', jobIds)).execute();
  return rows.map(snapshot);
}

/**
 * Jobs that identify the tenant's company: those seen since a person last confirmed it. If none was seen since, the
 * confirmation holds for the key it was given for; any other key is judged by the jobs known before.
 */
export async function readCompanyJobs(store: Store, tenantId: string, keyFingerprint: string): Promise<JobSnapshot[]> {
  const own = store.kysely
    .selectFrom('jobs')
    .leftJoin('tenants', 'tenants.tenant_id', 'jobs.tenant_id')
    .selectAll('jobs')
    .where('jobs.tenant_id', '=', tenantId);
  const rows = await own
    .where((eb) => eb('jobs.seen_at', '>', eb.fn.coalesce('tenants.company_confirmed_at', eb.lit(0))))
    .execute();
  if (rows.length > 0) return rows.map(snapshot);
  // In SQL, a recorded key of null is unequal to nothing, so no jobs are found then.
  return (await own.where('tenants.company_confirmed_key', '!=', keyFingerprint).execute()).map(snapshot);
}

/** Records that the people of these jobs were listed at these totals. Writes only what differs. */
export async function markListed(
  store: Store,
  tenantId: string,
  jobs: ReadonlyArray<{ jobId: string; totals: string }>,
): Promise<void> {
  await store.kysely.transaction().execute(async (trx) => {
    for (const { jobId, totals } of jobs)
      await trx
        .updateTable('jobs')
        .set({ listed_totals: totals })
        .where(has({ tenant_id: tenantId, job_id: jobId }))
        .where((eb) => eb.or([eb('listed_totals', 'is', null), eb('listed_totals', '!=', totals)]))
        .execute();
  });
}

function snapshot(row: { job_id: string; record: string; listed_totals: string | null; seen_at: number }): JobSnapshot {
  return {
    jobId: row.job_id,
    record: JSON.parse(row.record) as Record<string, unknown>,
    listedTotals: row.listed_totals,
    seenAt: row.seen_at,
  };
}

/** The result of probing the filter of GET /candidates/list. */
interface StageFilter {
  /** Fingerprint of the key used for the probe. */
  key: string;
  /** The filter found everybody in the stage and nobody else. */
  proven: boolean;
  /** Ids of each stage in the policies, by the name that the policies give it. */
  stageIds: Record<string, number[]>;
}

/** The last probe with this key, if it is younger than `maxAgeMs`. */
export async function readStageFilter(
  store: Store,
  tenantId: string,
  key: string,
  maxAgeMs: number,
): Promise<StageFilter | undefined> {
  const row = await store.kysely
    .selectFrom('tenants')
    .select(['stage_filter', 'stage_filter_at', store.now.as('now')])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (row === undefined || row.stage_filter === null) return undefined;
  const filter = JSON.parse(row.stage_filter) as StageFilter;
  const ageMs = row.now - Number(row.stage_filter_at);
  return filter.key === key && ageMs <= maxAgeMs ? filter : undefined;
}

export async function saveStageFilter(store: Store, tenantId: string, filter: StageFilter): Promise<void> {
  await changeTenant(store, tenantId, { stage_filter: JSON.stringify(filter), stage_filter_at: store.now });
}

type Key = Pick<RequisitionRow, 'tenant_id' | 'requisition_id'>;

/** All requisitions of a tenant as recorded, and the database's clock. */
export async function readRequisitions(
  store: Store,
  tenantId: string,
): Promise<{ rows: Map<string, RequisitionRow>; now: number }> {
  const rows = await store.kysely.selectFrom('requisitions').selectAll().where('tenant_id', '=', tenantId).execute();
  return { rows: new Map(rows.map((row) => [row.requisition_id, row])), now: await readClock(store) };
}

/**
 * Commits that a job is about to be requested. Undefined if another process did so first, or the row changed since it
 * was decided.
 */
export async function sendRequisition(
  store: Store,
  { tenantId, requisitionId, runId }: { tenantId: string; requisitionId: string; runId: string },
  before: RequisitionRow | undefined,
  budgetMs: number,
): Promise<RequisitionRow | undefined> {
  const key = { tenant_id: tenantId, requisition_id: requisitionId };
  const sent = { ...(await sentNow(store, budgetMs)), run_id: runId, hold_id: null };
  return sendOnce(store, 'requisitions', { key, sent, before });
}

/** The stream whose bases belong to one position and one job: another job's values are no edits. */
const POSITIONS = 'positions';

/** Links a requisition to its job, made now, found, or named by a person. Forgets values agreed with another job. */
export async function linkRequisition(store: Store, key: Key, jobId: string): Promise<void> {
  const known = { state: 'created' as const, job_id: jobId, hold_id: null };
  const { tenant_id: tenantId, requisition_id: pairId } = key;
  await store.kysely.transaction().execute(async (kysely) => {
    const before = await kysely.selectFrom('requisitions').select('job_id').where(has(key)).executeTakeFirst();
    if (before !== undefined && before.job_id !== jobId)
      await forgetPair({ ...store, kysely }, { tenantId, stream: POSITIONS, pairId });
    const row = { ...key, ...known, attempt: 0, sent_at: null, give_up_at: null, run_id: null };
    await put({ kysely }, 'requisitions', [row], {
      key: ['tenant_id', 'requisition_id'],
      set: ['state', 'job_id', 'hold_id'],
    });
  });
}

/**
 * Records that no job was made, that a person is asked about it, or that a person wants no job. A row that was decided,
 * or sent anew, since it was read stays as it is.
 */
export async function settleRequisition(
  store: Store,
  { tenant_id, requisition_id, state, attempt }: RequisitionRow,
  change: { state: 'absent' | 'dismissed' } | { state: 'held'; hold_id: string | null },
): Promise<void> {
  await store.kysely
    .updateTable('requisitions')
    .set({ hold_id: null, ...change })
    .where(has({ tenant_id, requisition_id, state, attempt }))
    .execute();
}
