import { ConnectorError, isConnectorError } from '../src/errors.ts';
import { hrisHold } from '../src/hire/holds.ts';
import { normalized } from '../src/in-words.ts';
import { contract } from '../src/partner/contract/index.ts';
import { listHires } from '../src/store/hires.ts';
import { openHold } from '../src/store/holds.ts';
import { type JobSnapshot, readCompanyJobs } from '../src/store/jobs.ts';
import type { Store } from '../src/store/open-store.ts';
import type { TenantRow } from '../src/store/schema.ts';
import { pauseForKey, readTenantState, recordVerifiedKey } from '../src/store/tenant-states.ts';
import { tenantRemoved } from '../src/tenants/known-tenants.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import type { SecretRef } from '../src/tenants/secrets.ts';
import type { ActivityDeps, Connection } from './connections.ts';
import { fetchJobCandidates } from './presence/fetch-job-candidates.ts';

/**
 * Runs work of one tenant with both of its sides open. A paused tenant's work waits. A key that stops working pauses
 * the tenant, and all of its other work waits too. A new key is first checked to belong to the same company.
 */
export async function guarded<T>(
  deps: ActivityDeps,
  tenantId: string,
  work: (connection: Connection, state: TenantRow) => Promise<T>,
): Promise<T> {
  const { store, limits } = deps;
  const state = await readTenantState(store, tenantId);
  if (state.state === 'removed') throw tenantRemoved(tenantId);
  if (state.state === 'paused') throw tenantPaused(tenantId, state.paused_code ?? 'unknown', limits.pausedMs);
  let connection: Connection | undefined;
  try {
    connection = await deps.connections.of(tenantId);
    if (state.verified_key !== connection.keyFingerprint) {
      await assertKnownCompany(store, connection);
      await recordVerifiedKey(store, tenantId, connection.keyFingerprint);
    }
    return await work(connection, state);
  } catch (thrown) {
    if (!isConnectorError(thrown) || thrown.action !== 'reauthorize') throw thrown;
    const error = connection === undefined ? thrown : sayRestart(thrown, connection.tenant);
    // The reference now leads to another secret than the refused one.
    if (await deps.connections.reopenIfRotated(tenantId))
      throw new ConnectorError({
        code: 'SECRET_ROTATED',
        action: 'throttle',
        message: `A secret of tenant ${tenantId} was replaced while it was in use. The new one is used from now on.`,
        retryAfterMs: 500,
      });
    // The partner's side works, so its probe would resume the tenant at once and the next hire would pause it again.
    if (error.code.startsWith('HRIS_')) {
      await pauseHris(deps, tenantId, error);
      throw hrisPaused(tenantId, limits.pausedMs);
    }
    await pause(deps, tenantId, error, { key: connection?.keyFingerprint ?? '', verified: state.verified_key });
    throw tenantPaused(tenantId, error.code, limits.pausedMs);
  }
}

async function pause(
  { store, log }: ActivityDeps,
  tenantId: string,
  error: ConnectorError,
  used: { key: string; verified: string | null },
): Promise<void> {
  const { code, message } = error;
  const first = await pauseForKey(store, tenantId, { code, message }, used);
  if (first) log.error({ tenantId, code, status: error.status, reason: error.withoutWords() }, 'tenant paused');
}

function tenantPaused(tenantId: string, code: string, pausedMs: number): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_PAUSED',
    action: 'throttle',
    message:
      `Tenant ${tenantId} is paused (${code}). Its work continues by itself once the cause is fixed. See: ` +
      'hirebridge status',
    retryAfterMs: pausedMs,
  });
}

/**
 * Stops a tenant's calls to its HR system, with one hold that says why. The partner's side goes on: hires go as far as
 * they can without an employee.
 */
export async function pauseHris(deps: ActivityDeps, tenantId: string, trouble: ConnectorError): Promise<void> {
  const { store, log, pausedHris } = deps;
  pausedHris.add(tenantId);
  const hold = hrisHold(trouble);
  const { fresh } = await openHold(store, { tenantId, ...hold });
  if (fresh) log.error({ tenantId, code: hold.code, reason: trouble.withoutWords() }, 'HR system does not work');
}

export function hrisPaused(tenantId: string, pausedMs: number): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_PAUSED',
    action: 'throttle',
    message:
      `The HR system of tenant ${tenantId} does not work. Its hires continue by themselves once it does. See: ` +
      'hirebridge status',
    retryAfterMs: pausedMs,
  });
}

/** Adds a note to the error if only a restart makes this process read the refused secret again. */
export function sayRestart(error: ConnectorError, { partner, hris }: Tenant): ConnectorError {
  if (error.action !== 'reauthorize' || error.code === 'SECRET_MISSING') return error;
  const ref = error.code.startsWith('HRIS_') ? hris.options['url'] : partner.apiKey;
  const note = typeof ref === 'string' ? restartNote(ref) : '';
  if (note === '') return error;
  const { code, action, status, details, requestId } = error;
  return new ConnectorError({
    code,
    action,
    status,
    details,
    requestId,
    message: `${error.message}${note}`,
    cause: error,
  });
}

/** How many known people are looked up if the jobs do not decide. */
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
  const tenantId = connection.tenant.tenant;
  throw new ConnectorError({
    code: 'COMPANY_MISMATCH',
    action: 'reauthorize',
    message:
      `The partner key of tenant ${tenantId} works but shows none of the jobs and people this tenant is known to ` +
      "have: it looks like another company's key. Nothing was started, cancelled or written. Put the right key " +
      `behind partner.apiKey; or, if it is the right company, run: hirebridge tenant confirm-company ${tenantId}`,
  });
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
  return normalized(String(value), 'NFKC')
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

/** Addition to a refused secret's message: a `file:` secret is read again by itself, an `env:` secret is not. */
function restartNote(ref: SecretRef): string {
  return ref.startsWith('env:') ? ` It is read from ${ref} when a process starts: a new one needs a restart.` : '';
}
