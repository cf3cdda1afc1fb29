import { sql } from 'kysely';
import type { Store } from './open-store.ts';
import { sealed } from './sealed-values.ts';

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
  for (let from = 0; from < jobs.length; from += 100) {
    const rows = jobs.slice(from, from + 100).map(async (job) => ({
      tenant_id: tenantId,
      job_id: job.jobId,
      record: await sealed(store, 'jobs.record', tenantId, JSON.stringify(job.record)),
      seen_at: store.now,
    }));
    await store.kysely
      .insertInto('jobs')
      .values(await Promise.all(rows))
      .onConflict((c) =>
        c
          .columns(['tenant_id', 'job_id'])
          .doUpdateSet({ record: sql`excluded.record`, seen_at: sql`excluded.seen_at` }),
      )
      .execute();
  }
}

export async function readJob(store: Store, tenantId: string, jobId: string): Promise<JobSnapshot | undefined> {
  const row = await store.kysely
    .selectFrom('jobs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  return row === undefined ? undefined : snapshot(row);
}

export async function countJobs(store: Store, tenantId: string): Promise<number> {
  const { jobs } = await store.kysely
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('jobs'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return Number(jobs);
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
        .where('tenant_id', '=', tenantId)
        .where('job_id', '=', jobId)
        .where((eb) => eb.or([eb('listed_totals', 'is', null), eb('listed_totals', '!=', totals)]))
        .execute();
  });
}

function snapshot(row: { job_id: string; record: string; listed_totals: string | null; seen_at: number }): JobSnapshot {
  return {
    jobId: row.job_id,
    record: JSON.parse(row.record) as Record<string, unknown>,
    listedTotals: row.listed_totals,
    seenAt: Number(row.seen_at),
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
  const ageMs = Number(row.now) - Number(row.stage_filter_at);
  return filter.key === key && ageMs <= maxAgeMs ? filter : undefined;
}

export async function saveStageFilter(store: Store, tenantId: string, filter: StageFilter): Promise<void> {
  await store.kysely
    .updateTable('tenants')
    .set({ stage_filter: JSON.stringify(filter), stage_filter_at: store.now })
    .where('tenant_id', '=', tenantId)
    .execute();
}
