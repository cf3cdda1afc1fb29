import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidate.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import { readJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { refreshJobs } from '../reconcile/refresh-jobs.ts';

export type Presence =
  | { verdict: 'in' | 'out'; jobCandidate: JobCandidate; candidateId: string; jobId: string }
  | { verdict: 'missing' };

/** A stage of the policies is a type of these, or an id. */
const types: ReadonlySet<string> = new Set(stageTypes);

/**
 * Where one job candidate is now: in one of these stages, elsewhere, or not shown at all. The record shown by the specification has no stage
 * (section 2.4), so membership is read from the lists by stage, unless the tenant's partner names the stage in the record.
 */
export async function readPresence(
  store: Store,
  connection: Connection,
  jobCandidateId: string,
  stages: readonly string[],
): Promise<Presence> {
  const jobCandidate = await fetchJobCandidate(connection, jobCandidateId);
  if (jobCandidate === undefined) return { verdict: 'missing' };
  const jobId = String(jobCandidate.jobId);
  const candidateId = String(jobCandidate.candidateId);
  if ((await readJob(store, connection.tenant.tenant, jobId)) === undefined) await refreshJobs(store, connection);
  const inside = await isInStages(connection, jobCandidate, stages);
  return { verdict: inside ? 'in' : 'out', jobCandidate, candidateId, jobId };
}

/** Undefined when the partner does not show it: left out, answered 404, or refused as another company's. None of them proves anything. */
async function fetchJobCandidate({ partner }: Connection, jobCandidateId: string): Promise<JobCandidate | undefined> {
  try {
    const body = { jobCandidateIds: [jobCandidateId] };
    const { items, unreadable } = await partner.readAll(
      contract.jobCandidates.bulkFetch,
      { body },
      { priority: 'live' },
    );
    const found = items.find((item) => String(item.id) === jobCandidateId);
    if (found === undefined && unreadable.length > 0)
      throw unreadableRecord(jobCandidateId, unreadable[0]?.reason ?? '');
    return found;
  } catch (error) {
    if (isConnectorError(error) && notShown.has(error.code)) return undefined;
    throw error;
  }
}

const notShown: ReadonlySet<string> = new Set(['NOT_FOUND', 'PERMISSION_DENIED', 'ACCESS_DENIED']);

async function isInStages(
  connection: Connection,
  jobCandidate: JobCandidate,
  stages: readonly string[],
): Promise<boolean> {
  if (isRejected(jobCandidate)) return false;
  const field = connection.overrides.jobCandidateStageField;
  const named = field === null ? undefined : jobCandidate[field];
  if (typeof named === 'string' || typeof named === 'number') return stages.includes(String(named).toUpperCase());
  for (const stage of stages) {
    if (await isListed(connection, jobCandidate, stage)) return true;
  }
  return false;
}

/** Whoever is rejected stays in the stage they stood in (K10), and is hired no longer. */
function isRejected({ evaluationStatus }: JobCandidate): boolean {
  return String(evaluationStatus).toUpperCase() === 'REJECTED';
}

async function isListed(connection: Connection, jobCandidate: JobCandidate, stage: string): Promise<boolean> {
  const id = String(jobCandidate.id);
  let unreadable: UnreadableItem | undefined;
  for await (const page of listStage(connection, String(jobCandidate.jobId), stage)) {
    if (page.members.some((member) => member.jobCandidateId === id)) return true;
    unreadable ??= page.unreadable[0];
  }
  // An unreadable record may be this very person: nothing may be concluded from not seeing them.
  if (unreadable !== undefined) throw unreadableRecord(unreadable.id ?? 'unknown', unreadable.reason);
  return false;
}

export interface StageMember {
  jobCandidateId: string;
  candidateId: string;
  jobId: string;
  rejected: boolean;
}

export interface StagePage {
  members: StageMember[];
  unreadable: UnreadableItem[];
}

/** Everyone of a job in a stage (id) or in all stages of a type, page by page. */
export async function* listStage(
  { partner }: Connection,
  jobId: string,
  stage: string,
  priority: 'live' | 'bulk' = 'live',
): AsyncGenerator<StagePage> {
  const { listByStageType, listByStage } = contract.jobCandidates;
  const pages = types.has(stage)
    ? partner.pages(listByStageType, { query: { stageType: stage as 'HIRED', jobId } }, { priority })
    : partner.pages(listByStage, { params: { stageId: stage }, query: { jobId } }, { priority });
  for await (const { items, unreadable } of pages) {
    const members = items.map(({ jobCandidateDetails: details }) => ({
      jobCandidateId: String(details.id),
      candidateId: String(details.candidateId),
      jobId: String(details.jobId),
      rejected: isRejected(details),
    }));
    yield { members, unreadable };
  }
}

function unreadableRecord(id: string, reason: string): ConnectorError {
  return new ConnectorError({
    code: 'RECORD_UNREADABLE',
    action: 'reject',
    message: `The partner's record of job candidate ${id} does not fit the contract (${reason}). Correct it with the partner, or name the difference in partner.overrides.`,
  });
}
