import { ConnectorError } from '../../src/errors.ts';
import { evaluationStatuses, type JobCandidate } from '../../src/partner/contract/job-candidate.ts';
import { type JobSnapshot, readJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { noteUnknownValue } from '../note-unknown-value.ts';
import { refreshJobs } from '../reconcile/refresh-jobs.ts';
import { type Fetched, fetchJobCandidates } from './fetch-job-candidates.ts';
import { isRejected } from './list-stage.ts';
import { type Membership, type MembershipLook, readMemberships } from './read-membership.ts';
import { shareReads } from './share-reads.ts';

/** A job as the jobs list showed it last. */
type JobRecord = JobSnapshot['record'];

export type Presence =
  | {
      verdict: 'in' | 'out';
      jobCandidate: JobCandidate;
      candidateId: string;
      jobId: string;
      job: JobRecord | undefined;
    }
  | { verdict: 'missing' };

/**
 * Where one job candidate is now: in one of these stages, elsewhere, or not shown at all. The specification shows no
 * stage in the record (section 2.4), so membership is read from the lists by stage, unless the tenant's partner names
 * the stage in the record.
 */
export async function readPresence(
  store: Store,
  connection: Connection,
  jobCandidateId: string,
  stages: readonly string[],
): Promise<Presence> {
  const reads = sharedReadsOf(store, connection);
  const { jobCandidate, unreadable } = await reads.jobCandidate(jobCandidateId);
  if (unreadable !== undefined) throw unreadableRecord(jobCandidateId, unreadable);
  if (jobCandidate === undefined) return { verdict: 'missing' };
  const { jobId, candidateId } = jobCandidate;
  const known = await readJob(store, connection.tenant.tenant, jobId);
  if (known === undefined) await reads.jobs('');
  const job = (known ?? (await readJob(store, connection.tenant.tenant, jobId)))?.record;
  await noteUnknownEvaluation(store, connection, jobCandidate);
  const inside = await isInside(reads, connection, { jobCandidate, stages, job });
  return { verdict: inside ? 'in' : 'out', jobCandidate, candidateId, jobId, job };
}

const evaluations: ReadonlySet<string> = new Set(evaluationStatuses);

/** Only REJECTED takes somebody out of a stage; a value that nobody knows does not, and is told. */
async function noteUnknownEvaluation(
  store: Store,
  connection: Connection,
  { evaluationStatus }: JobCandidate,
): Promise<void> {
  if (evaluationStatus === undefined || evaluationStatus === null) return;
  const value = String(evaluationStatus);
  if (evaluations.has(value.toUpperCase())) return;
  const goesOn = 'Whoever has it counts as not rejected.';
  await noteUnknownValue(store, connection, { field: 'evaluationStatus', value, goesOn });
}

async function isInside(reads: SharedReads, connection: Connection, look: MembershipLook): Promise<boolean> {
  const { jobCandidate, stages } = look;
  if (isRejected(jobCandidate)) return false;
  const field = connection.overrides.jobCandidateStageField;
  const named = field === null ? undefined : jobCandidate[field];
  if (typeof named === 'string' || typeof named === 'number') return stages.includes(String(named).toUpperCase());
  const { inside, unreadable } = await reads.membership(look);
  // An unreadable record may be this very person: nothing may be concluded from not seeing them.
  if (unreadable !== undefined) throw unreadableRecord(unreadable.id ?? 'unknown', unreadable.reason);
  return inside;
}

/** The reads that hires of one tenant share in this process. */
interface SharedReads {
  jobCandidate(id: string): Promise<Fetched>;
  membership(look: MembershipLook): Promise<Membership>;
  jobs(of: ''): Promise<void>;
}

const sharedReads = new WeakMap<Connection, SharedReads>();
const MOST_IDS = 100;

/** By open connection: what was asked with one key is never answered with another. */
function sharedReadsOf(store: Store, connection: Connection): SharedReads {
  const known = sharedReads.get(connection);
  if (known !== undefined) return known;
  const opened: SharedReads = {
    jobCandidate: shareReads(
      () => '',
      (ids) => fetchJobCandidates(connection, ids),
      MOST_IDS,
    ),
    membership: shareReads(
      ({ jobCandidate, stages }) => JSON.stringify([jobCandidate.jobId, stages]),
      (looks) => readMemberships(store, connection, looks),
    ),
    jobs: shareReads(
      () => '',
      async () => {
        await refreshJobs(store, connection);
        return [];
      },
    ),
  };
  sharedReads.set(connection, opened);
  return opened;
}

function unreadableRecord(id: string, reason: string): ConnectorError {
  return new ConnectorError({
    code: 'RECORD_UNREADABLE',
    action: 'reject',
    message:
      `The partner's record of job candidate ${id} does not fit the contract (${reason}). ` +
      'Correct it with the partner, or name the difference in partner.overrides.',
  });
}
