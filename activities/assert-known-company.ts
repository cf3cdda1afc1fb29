import { ConnectorError } from '../src/errors.ts';
import { contract } from '../src/partner/contract/index.ts';
import { listHires } from '../src/store/hires.ts';
import { type JobSnapshot, readCompanyJobs } from '../src/store/jobs.ts';
import type { Store } from '../src/store/open-store.ts';
import type { Connection } from './connections.ts';
import { fetchJobCandidates } from './presence/fetch-job-candidates.ts';

/** Asked for where the jobs leave it open. */
const MOST_PEOPLE = 5;

/** A tenant and its partner; the HR system need not be open. */
type PartnerSide = Pick<Connection, 'tenant' | 'partner' | 'keyFingerprint'>;

/**
 * The known-good read: with this key, is something still there that the tenant is known to have? Another company's key
 * is valid and lists that company's people, so neither a 200 nor an empty answer proves anything by itself. Throws
 * COMPANY_MISMATCH (reauthorize). A tenant without evidence of its company passes.
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

/** other: it has a job of a known id that is not the known job. none: neither for nor against. */
type CompanyEvidence = 'same' | 'other' | 'none';

/**
 * Whether these jobs are of the company that the known ones are of: one that is the same is enough, however many were
 * deleted. Meaning is compared, because the form of a field may change in mid-life.
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

/**
 * Ids of two companies may be equal by chance: the same moment of creation decides, or the title where one is missing.
 */
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

/** Below this a number counts seconds (until the year 5138), above it milliseconds (from 1973). */
const LEAST_MS = 1e11;

/** Milliseconds since 1970, of ISO text or a number in either unit. */
function instantOf(value: unknown): number | undefined {
  const text = normalise(value).toUpperCase().replace(' ', 'T');
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) return Math.abs(number) < LEAST_MS ? number * 1000 : number;
  // Without a zone it is taken as UTC, whatever this machine's zone is.
  const parsed = Date.parse(/T(?!.*(Z|[+-]\d\d:?\d\d)$)/.test(text) ? `${text}Z` : text);
  return Number.isNaN(parsed) ? undefined : parsed;
}
