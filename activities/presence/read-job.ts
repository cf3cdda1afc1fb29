import { ConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { countJobs, readJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { shareReads } from './share-reads.ts';

type JobRecord = Record<string, unknown>;

/** Jobs per page of the list; a tenant with fewer jobs reads the whole list with one call. */
const PAGE = 100;

/**
 * Reads a job as the partner shows it now, by a read that began after it was asked for; looks of one tenant that wait
 * together share the read. No call reads a job by id (section 4.2 names no shape for it), so the list is filtered by
 * the job's last title and read whole if the job is not on that page. This costs one call, or the whole list if a job
 * of a large company was renamed. Undefined if the whole list does not show the job.
 * @throws ConnectorError JOB_UNREADABLE
 */
export async function readJobNow(store: Store, connection: Connection, jobId: string): Promise<JobRecord | undefined> {
  const shared =
    sharedReads.get(connection) ??
    shareReads<string, Shown>(
      () => '',
      (ids) => readTogether(store, connection, ids),
    );
  sharedReads.set(connection, shared);
  const shown = await shared(jobId);
  if ('unreadable' in shown) throw unreadable(jobId, shown.unreadable);
  return shown.job;
}

/** What the list shows of one job. */
type Shown = { job: JobRecord | undefined } | { unreadable: string };

const sharedReads = new WeakMap<Connection, (jobId: string) => Promise<Shown>>();

async function readTogether(store: Store, connection: Connection, ids: readonly string[]): Promise<Shown[]> {
  const wanted = [...new Set(ids)];
  const shown = new Map<string, Shown>();
  const pages = Math.ceil((await countJobs(store, connection.tenant.tenant)) / PAGE);
  if (wanted.length < pages)
    for (const id of wanted) {
      const title = (await readJob(store, connection.tenant.tenant, id))?.record['title'];
      if (typeof title === 'string' && !shown.has(id)) await takeFirstPage(connection, title, shown);
    }
  if (wanted.some((id) => !shown.has(id))) await takeWholeList(connection, shown);
  return ids.map((id) => shown.get(id) ?? { job: undefined });
}

/** A partner that ignores the filter shows its first page, which may hold the job as well. */
async function takeFirstPage({ partner }: Connection, jobTitle: string, shown: Map<string, Shown>): Promise<void> {
  for await (const { items } of partner.pages(contract.jobs.list, { query: { jobTitle } }, { priority: 'live' })) {
    for (const job of items) shown.set(job.id, { job });
    return;
  }
}

async function takeWholeList({ partner }: Connection, shown: Map<string, Shown>): Promise<void> {
  const { items, unreadable: broken } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
  for (const { id, reason } of broken) if (id !== undefined) shown.set(id, { unreadable: reason });
  for (const job of items) shown.set(job.id, { job });
}

function unreadable(jobId: string, reason: string): ConnectorError {
  return new ConnectorError({
    code: 'JOB_UNREADABLE',
    action: 'reject',
    message:
      `The partner's record of job ${jobId} does not fit the contract (${reason}), so no employee can be created ` +
      'from it. Correct it with the partner, then answer retry.',
  });
}
