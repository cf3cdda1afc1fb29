import { ConnectorError } from '../src/errors.ts';
import { contract } from '../src/partner/contract/index.ts';
import { listHires } from '../src/store/hires.ts';
import { readCompanyJobs } from '../src/store/jobs.ts';
import type { Store } from '../src/store/open-store.ts';
import { compareJobs } from './company-evidence.ts';
import type { Connection } from './connections.ts';
import { fetchJobCandidates } from './presence/fetch-job-candidates.ts';

/** Asked for where the jobs leave it open. */
const MOST_PEOPLE = 5;

/** A tenant and its partner; the HR system need not be open. */
type PartnerSide = Pick<Connection, 'tenant' | 'partner' | 'keyFingerprint'>;

/**
 * The known-good read: with this key, is something still there that the tenant is known to have? Another company's key
 * is valid and lists that company's people, so neither a 200 nor an empty answer proves anything by itself. Throws
 * COMPANY_MISMATCH (reauthorize). A tenant of which nothing is known yet passes.
 */
export async function assertKnownCompany(store: Store, connection: PartnerSide): Promise<void> {
  const known = await readCompanyJobs(store, connection.tenant.tenant, connection.keyFingerprint);
  if (known.length === 0) return;
  const listed: Record<string, unknown>[] = [];
  for await (const page of connection.partner.pages(contract.jobs.list, {}, { priority: 'live' })) {
    if (compareJobs(known, page.items) === 'same') return;
    listed.push(...page.items);
  }
  await assertSameCompany(store, connection, listed);
}

/** As above, over a jobs list that was read already. */
export async function assertSameCompany(
  store: Store,
  connection: PartnerSide,
  listed: readonly Record<string, unknown>[],
): Promise<void> {
  const known = await readCompanyJobs(store, connection.tenant.tenant, connection.keyFingerprint);
  if (known.length === 0) return;
  const evidence = compareJobs(known, listed);
  if (evidence === 'same') return;
  // Every job that was known may have been deleted: the people on them are left.
  if (evidence === 'none' && (await showsKnownPerson(store, connection))) return;
  throw companyMismatch(connection.tenant.tenant);
}

/** Somebody of the same application, on the same job and with the same candidate id. */
async function showsKnownPerson(store: Store, connection: PartnerSide): Promise<boolean> {
  const hires = await listHires(store, { tenantId: connection.tenant.tenant, limit: MOST_PEOPLE });
  const known = hires.filter((hire) => hire.candidate_id !== null && hire.job_id !== null);
  if (known.length === 0) return false;
  const fetched = await fetchJobCandidates(
    connection,
    known.map((hire) => hire.job_candidate_id),
  );
  return fetched.some(({ jobCandidate }, index) => {
    const hire = known[index];
    return jobCandidate?.candidateId === hire?.candidate_id && jobCandidate?.jobId === hire?.job_id;
  });
}

function companyMismatch(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'COMPANY_MISMATCH',
    action: 'reauthorize',
    message:
      `The partner key of tenant ${tenantId} works but shows none of the jobs and people this tenant is known to ` +
      "have: it looks like another company's key. Nothing was started, cancelled or written. Put the right key " +
      `behind partner.apiKey; or, if it is the right company, run: hirebridge tenant confirm-company ${tenantId}`,
  });
}
