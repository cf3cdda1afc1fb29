import { ConnectorError } from '../src/errors.ts';
import { contract } from '../src/partner/contract/index.ts';
import { type JobSnapshot, readJobs } from '../src/store/jobs.ts';
import type { Store } from '../src/store/open-store.ts';
import type { Connection } from './connections.ts';

/**
 * The known-good read: with this key, is something still there that the tenant is known to have? Another company's key
 * is valid and lists that company's people, so neither a 200 nor an empty answer proves anything by itself. Throws
 * COMPANY_MISMATCH (reauthorize). A tenant of which nothing is known yet passes.
 */
export async function assertKnownCompany(store: Store, { tenant, partner }: Connection): Promise<void> {
  const known = new Map((await readJobs(store, tenant.tenant)).map((job) => [job.jobId, job]));
  if (known.size === 0) return;
  for await (const page of partner.pages(contract.jobs.list, {}, { priority: 'live' })) {
    if (page.items.some((job) => isSame(job, known.get(job.id)))) return;
  }
  throw companyMismatch(tenant.tenant);
}

/** Ids of two companies may be equal by chance; a job of the same id, made at the same moment, is the same. */
export function isSame(job: Record<string, unknown>, snapshot: JobSnapshot | undefined): boolean {
  return snapshot !== undefined && String(job['createdAt']) === String(snapshot.record['createdAt']);
}

export function companyMismatch(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'COMPANY_MISMATCH',
    action: 'reauthorize',
    message:
      `The partner key of tenant ${tenantId} works but shows none of the jobs this tenant is known to have: it ` +
      `looks like another company's key. Nothing was started, cancelled or written. Put the right key behind ` +
      'partner.apiKey.',
  });
}
