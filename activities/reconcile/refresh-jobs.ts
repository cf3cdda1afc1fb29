import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type JobSnapshot, readJobs, saveJobs } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import { assertSameCompany } from '../guarded.ts';
import { onePage } from '../presence/fetch-job-candidates.ts';

export interface ListedJob {
  jobId: string;
  /** JSON of the job's totals by stage, in the list's order, and of those rejected: who is taken back moves nowhere. */
  totals: string;
  /** The totals when the job's people were last listed. */
  listedTotals: string | null;
}

interface ListedJobs {
  jobs: ListedJob[];
  /** Records that do not fit the contract. */
  unreadable: UnreadableItem[];
}

/**
 * Reads the whole jobs list and stores it, because a job's fields are shown nowhere else (section 4.2). Also checks the
 * key: if none of the known jobs is there, it is another company's key, and nothing is stored.
 */
export async function refreshJobs(store: Store, connection: Connection): Promise<ListedJobs> {
  const { tenant, partner } = connection;
  const known = await readJobs(store, tenant.tenant);
  const { items, unreadable } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
  await assertSameCompany(store, connection, items);
  return keepJobs(store, tenant.tenant, known, { items, unreadable });
}

/** Reads and stores one page of the jobs list; undefined behind the last page. */
export async function refreshJobsPage(
  store: Store,
  { tenant, partner }: Connection,
  page: number,
): Promise<(ListedJobs & { records: number; total?: number }) | undefined> {
  const shown = await onePage(partner.pages(contract.jobs.list, {}, { from: page, priority: 'live' }));
  if (shown === undefined) return undefined;
  const { items, unreadable, records, total } = shown;
  const ids = items.map(({ id }) => id);
  const known = ids.length === 0 ? [] : await readJobs(store, tenant.tenant, ids);
  const listed = await keepJobs(store, tenant.tenant, known, { items, unreadable });
  return { ...listed, records, ...(total === undefined ? {} : { total }) };
}

interface ListPart {
  items: readonly JobItem[];
  unreadable: UnreadableItem[];
}

type JobItem = Record<string, unknown> & {
  id: string;
  pipelineStage?: readonly { type: unknown; totalCandidate: unknown }[] | null | undefined;
  rejectedCandidateCount?: unknown;
};

/** Stores the jobs, but writes only rows that changed. */
async function keepJobs(
  store: Store,
  tenantId: string,
  known: readonly JobSnapshot[],
  { items, unreadable }: ListPart,
): Promise<ListedJobs> {
  const byId = new Map(known.map((job) => [job.jobId, job]));
  const { company_confirmed_at: confirmedAt } = await readTenantState(store, tenantId);
  // Jobs that are new, changed, or not seen since a person confirmed the company: seen after that, they prove it.
  const changed = items.filter((job) => {
    const before = byId.get(job.id);
    const isProof = before !== undefined && before.seenAt > Number(confirmedAt ?? 0);
    return !isProof || JSON.stringify(before.record) !== JSON.stringify(job);
  });
  const rows = changed.map((job) => ({ jobId: job.id, record: job }));
  await saveJobs(store, tenantId, rows);
  const jobs: ListedJob[] = items.map((job) => ({
    jobId: job.id,
    totals: JSON.stringify([
      ...(job.pipelineStage ?? []).map((stage) => [stage.type, Number(stage.totalCandidate)]),
      ['rejected', Number(job.rejectedCandidateCount ?? 0)],
    ]),
    listedTotals: byId.get(job.id)?.listedTotals ?? null,
  }));
  // The people of an unreadable job can be listed by its id, and are listed each time, because nothing shows whether
  // one moved.
  for (const { id } of unreadable)
    if (id !== undefined) jobs.push({ jobId: id, totals: 'unreadable', listedTotals: null });
  return { jobs, unreadable };
}
