import { ConnectorError } from '../src/errors.ts';
import { contract } from '../src/partner/contract/index.ts';
import { listHires } from '../src/store/hires.ts';
import { type JobSnapshot, readCompanyJobs } from '../src/store/jobs.ts';
import type { Store } from '../src/store/open-store.ts';
import type { Connection } from './connections.ts';
import { fetchJobCandidates } from './presence/fetch-job-candidates.ts';

/** How many people to look up if the jobs do not decide. */
const MOST_PEOPLE = 5;

/** A tenant and its partner; the HR system need not be open. */
type PartnerSide = Pick<Connection, 'tenant' | 'partner' | 'keyFingerprint'>;

/**
 * Checks with this key that something the tenant is known to have is still there. Another company's key is valid too
 * and lists that company's people, so neither a 200 nor an empty answer proves anything. Throws COMPANY_MISMATCH
 * (reauthorize). A tenant without evidence of its company passes.
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

/** The same check on a jobs list that was already read. */
export async function assertSameCompany(
  store: Store,
  connection: PartnerSide,
  listed: readonly Record<string, unknown>[],
): Promise<void> {
  const known = await readCompanyJobs(store, connection.tenant.tenant, connection.keyFingerprint);
  if (known.length === 0) return;
  const evidence = compareJobs(known, listed);
  if (evidence === 'same') return;
  // Every known job may have been deleted, so the people are checked.
  if (evidence === 'none' && (await showsKnownPerson(store, connection))) return;
  throw companyMismatch(connection.tenant.tenant);
}

/** Whether a known application is shown on the same job with the same candidate id. */
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

/** other: a job has a known id but is not the known job. none: no evidence either way. */
type CompanyEvidence = 'same' | 'other' | 'none';

/**
 * Whether these jobs belong to the company of the known jobs: a single equal job is enough, however many were deleted.
 * Compares meaning, because the format of a field may change over time.
 */
export function compareJobs(
  known: readonly Pick<JobSnapshot, 'jobId' | 'record'>[],
  listed: readonly Record<string, unknown>[],
): CompanyEvidence {
  const byId = new Map(known.map((job) => [normalise(job.jobId), job.record]));
  const evidence = listed.map((job) => compareJob(job, byId.get(normalise(job['id']))));
  if (evidence.includes('same')) return 'same';
  return evidence.includes('other') ? 'other' : 'none';
}

/** Two companies may use the same id by chance, so the creation time decides, or the title if a time is missing. */
function compareJob(job: Record<string, unknown>, known: Record<string, unknown> | undefined): CompanyEvidence {
  if (known === undefined) return 'none';
  const [was, is] = [instantOf(known['createdAt']), instantOf(job['createdAt'])];
  if (was !== undefined && is !== undefined) return Math.abs(was - is) < 1000 ? 'same' : 'other';
  const title = normalise(job['title']);
  return title !== '' && title === normalise(known['title']) ? 'same' : 'none';
}

function normalise(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return String(value)
    .normalize('NFKC')
    .replace(/[\s\p{Cf}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

/** A number below this counts seconds (until the year 5138), a number above it milliseconds (from 1973). */
const LEAST_MS = 1e11;

/** Milliseconds since 1970, from ISO text or a number in either unit. */
function instantOf(value: unknown): number | undefined {
  const text = normalise(value).toUpperCase().replace(' ', 'T');
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) return Math.abs(number) < LEAST_MS ? number * 1000 : number;
  // A time without a zone is read as UTC, no matter what zone this machine has.
  const parsed = Date.parse(/T(?!.*(Z|[+-]\d\d:?\d\d)$)/.test(text) ? `${text}Z` : text);
  return Number.isNaN(parsed) ? undefined : parsed;
}
