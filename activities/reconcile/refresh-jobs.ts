import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type JobSnapshot, readJobs, saveJobs } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { assertSameCompany } from '../assert-known-company.ts';
import type { Connection } from '../connections.ts';

export interface ListedJob {
  jobId: string;
  /** JSON of its totals by stage, in the list's order. */
  totals: string;
  /** The totals when its people were last listed. */
  listedTotals: string | null;
}

export interface ListedJobs {
  jobs: ListedJob[];
  /** Records that do not fit the contract. */
  unreadable: UnreadableItem[];
}

/**
 * Reads the whole jobs list and keeps it: a job's fields are shown nowhere else (section 4.2). Doubles as the
 * known-good read: none of the jobs known before means another company's key, and nothing is kept.
 */
export async function refreshJobs(store: Store, connection: Connection): Promise<ListedJobs> {
  const { tenant, partner } = connection;
  const known = new Map((await readJobs(store, tenant.tenant)).map((job) => [job.jobId, job]));
  const { items, unreadable } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
  await assertSameCompany(store, connection, items);
  await saveJobs(
    store,
    tenant.tenant,
    items.map((job) => ({ jobId: job.id, record: job as Record<string, unknown> })),
  );
  const jobs: ListedJob[] = items.map((job) => ({
    jobId: job.id,
    totals: JSON.stringify((job.pipelineStage ?? []).map((stage) => [stage.type, Number(stage.totalCandidate)])),
    listedTotals: listedTotals(known.get(job.id)),
  }));
  // Their people can be listed by the id alone, and are, each time: nothing tells whether somebody moved.
  for (const { id } of unreadable)
    if (id !== undefined) jobs.push({ jobId: id, totals: 'unreadable', listedTotals: null });
  return { jobs, unreadable };
}

function listedTotals(job: JobSnapshot | undefined): string | null {
  return job?.listedTotals ?? null;
}
