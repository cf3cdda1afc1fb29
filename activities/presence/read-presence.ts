import { ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { evaluationStatuses, type JobCandidate } from '../../src/partner/contract/job-candidates.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { hasOtherHire } from '../../src/store/hires.ts';
import { type JobSnapshot, readJob, readStageFilter } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import type { Connection } from '../connections.ts';
import { refreshJobs } from '../reconcile/refresh-jobs.ts';
import { countOf } from '../reconcile/run.ts';
import {
  askStageFilter,
  type Fetched,
  fetchJobCandidates,
  isRejected,
  listStage,
  readStagePage,
  repeated,
  type StageList,
  shareReads,
} from './fetch-job-candidates.ts';

/** A job as the jobs list last showed it. */
type JobRecord = JobSnapshot['record'];

export type Presence =
  | {
      verdict: 'in' | 'out';
      jobCandidate: JobCandidate;
      candidateId: string;
      jobId: string;
      job: JobRecord | undefined;
      /** How many people the stages' lists showed; absent if the person was found before the end, or without lists. */
      listed?: number;
    }
  | { verdict: 'missing' };

/**
 * Reads where one job candidate is now: in one of these stages, elsewhere, or not shown at all. The specification shows
 * no stage in the record (section 2.4), so the lists by stage decide, unless this partner names the stage in the
 * record.
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
  const { inside, listed } = await readInside(reads, connection, { jobCandidate, stages, job });
  const found = { verdict: inside ? 'in' : 'out', jobCandidate, candidateId, jobId, job } as const;
  return listed === undefined ? found : { ...found, listed };
}

const evaluations: ReadonlySet<string> = new Set(evaluationStatuses);

/** Only REJECTED takes a person out of a stage. An unknown value does not, but raises an alarm. */
async function noteUnknownEvaluation(
  store: Store,
  connection: Connection,
  { evaluationStatus }: JobCandidate,
): Promise<void> {
  if (evaluationStatus === undefined || evaluationStatus === null) return;
  const value = String(evaluationStatus);
  if (evaluations.has(value.toUpperCase())) return;
  const goesOn = 'Candidates with this status count as not rejected.';
  await noteUnknownValue(store, connection, { field: 'evaluationStatus', value, goesOn });
}

async function readInside(
  reads: SharedReads,
  connection: Connection,
  look: MembershipLook,
): Promise<Pick<Membership, 'inside' | 'listed'>> {
  const { jobCandidate, stages } = look;
  if (isRejected(jobCandidate)) return { inside: false };
  const field = connection.overrides.jobCandidateStageField;
  const named = field === null ? undefined : jobCandidate[field];
  if (typeof named === 'string' || typeof named === 'number')
    return { inside: stages.includes(String(named).toUpperCase()) };
  const { failed, unreadable, ...membership } = await reads.membership(look);
  if (failed !== undefined) throw failed;
  // The unreadable record may be this person's, so not seeing them proves nothing.
  if (unreadable !== undefined) throw unreadableRecord(unreadable.id ?? 'unknown', unreadable.reason);
  return membership;
}

/** Reads that the hires of one tenant share in this process. */
interface SharedReads {
  jobCandidate(id: string): Promise<Fetched>;
  membership(look: MembershipLook): Promise<Membership>;
  jobs(of: ''): Promise<void>;
}

const sharedReads = new WeakMap<Connection, SharedReads>();
const MOST_IDS = 100;

/** One set per open connection: a look with one key is never answered by a read with another. */
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
  return rejected(
    'RECORD_UNREADABLE',
    `The partner's record of job candidate ${id} does not fit the contract (${reason}). ` +
      'Correct it with the partner, or name the difference in partner.overrides.',
  );
}

/** The question whether a person is in one of these stages. */
interface MembershipLook {
  jobCandidate: JobCandidate;
  stages: readonly string[];
  /** The person's job as the jobs list last showed it. */
  job: Record<string, unknown> | undefined;
}

interface Membership {
  inside: boolean;
  /** How many people the lists showed, if the person was not among them. */
  listed?: number;
  /** The person was not seen, but this record of the list was unreadable and may be theirs. */
  unreadable?: UnreadableItem;
  /** The person was not seen, but the list could not be read to its end for this. */
  failed?: ConnectorError;
}

const PAGE = 100;
/** Each day's full reconcile renews the proof. */
const FILTER_PROVEN_FOR_MS = 2 * 86_400_000;

/**
 * Finds several people of one job in the same stages. If asking the partner's filter for each person costs less than
 * reading the list, the filter comes first. A person whom the filter does not show is looked for in the whole list,
 * because a filter does not prove absence.
 */
async function readMemberships(
  store: Store,
  connection: Connection,
  looks: readonly MembershipLook[],
): Promise<Membership[]> {
  const stages = looks[0]?.stages ?? [];
  const jobId = looks[0]?.jobCandidate.jobId ?? '';
  // Length of the list by the job's last known totals; this only affects the cost.
  const job = looks[0]?.job;
  const pages = Math.ceil((countOf(job, stages) ?? countOf(job) ?? 0) / PAGE);
  const isFilterFirst = looks.length < Math.max(1, pages);
  const shown = isFilterFirst ? await findByFilter(store, connection, looks) : new Set<string>();
  const rest = looks.map(({ jobCandidate }) => jobCandidate.id).filter((id) => !shown.has(id));
  const missing = new Set(rest);
  const listed = await repeated(() => findInLists(connection, jobId, stages, missing)).catch(ofConnector);
  if (!isConnectorError(listed) && missing.size > 0 && listed.unshown > 0)
    await assertNobodyHidden(store, connection, { jobId, stages, ...listed });
  const sought = looks.filter(({ jobCandidate }) => missing.has(jobCandidate.id));
  const mayBeShown = isConnectorError(listed) && listed.action === 'retry' && !isFilterFirst;
  const found = mayBeShown ? await findBesideFailure(store, connection, sought) : shown;
  return looks.map(({ jobCandidate: { id } }) => {
    if (found.has(id) || !missing.has(id)) return { inside: true };
    if (isConnectorError(listed)) return { inside: false, failed: listed };
    const { unreadable } = listed;
    return { inside: false, listed: listed.listed, ...(unreadable !== undefined && { unreadable }) };
  });
}

/**
 * The people that the filter shows, although a page of the list fails. The first failure of the filter ends this, too.
 */
async function findBesideFailure(
  store: Store,
  connection: Connection,
  looks: readonly MembershipLook[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const isShown = await openFilter(store, connection, looks[0]?.stages ?? []);
  for (const look of isShown === undefined ? [] : looks) {
    const answer = await isShown?.(look).catch((error: unknown) => {
      if (!isConnectorError(error)) throw error;
    });
    if (answer === undefined) break;
    if (answer) found.add(look.jobCandidate.id);
  }
  return found;
}

function ofConnector(error: unknown): ConnectorError {
  if (isConnectorError(error)) return error;
  throw error;
}

/** Removes the people that the lists show from `missing`, even if a list fails later. */
async function findInLists(
  connection: Connection,
  jobId: string,
  stages: readonly string[],
  missing: Set<string>,
): Promise<Listed> {
  let unreadable: UnreadableItem | undefined;
  let [listed, unshown] = [0, 0];
  for (const stage of stages) {
    if (missing.size === 0) break;
    const length = lengthOf(connection, { jobId, stage });
    if (length.pages > 1) await findOnPage(connection, { jobId, stage }, length, missing);
    if (missing.size === 0) break;
    let [pages, shown, total] = [0, 0, 0];
    for await (const page of listStage(connection, { jobId, stage }, 'live')) {
      pages += 1;
      shown += page.members.length + page.unreadable.length;
      total = page.total ?? shown;
      for (const member of page.members) missing.delete(member.jobCandidateId);
      unreadable ??= page.unreadable[0];
      if (missing.size === 0) break;
    }
    length.pages = missing.size === 0 ? Math.max(length.pages, pages) : pages;
    listed += shown;
    unshown += Math.max(0, total - shown);
  }
  return { unreadable, listed, unshown };
}

interface Listed {
  unreadable: UnreadableItem | undefined;
  /** People whom the lists showed. */
  listed: number;
  /** How many people the lists' totals count beyond those. */
  unshown: number;
}

/** How long lists must end in the same place before their totals count as too high. */
const SHORT_LIST_MS = 3_600_000;
/** By open connection and list: how many people are unshown, and since when. */
const shortLists = new WeakMap<Connection, Map<string, { unshown: number; since: number }>>();

/**
 * A person who is in no list may be one that the lists' totals and the job's own count include and no page shows.
 * @throws ConnectorError STAGE_LIST_SHORT
 */
async function assertNobodyHidden(
  store: Store,
  connection: Connection,
  { jobId, stages, listed, unshown }: Pick<Listed, 'listed' | 'unshown'> & { jobId: string; stages: readonly string[] },
): Promise<void> {
  await refreshJobs(store, connection);
  const job = await readJob(store, connection.tenant.tenant, jobId);
  if ((countOf(job?.record, stages) ?? 0) <= listed) return;
  const known = shortLists.get(connection) ?? new Map<string, { unshown: number; since: number }>();
  shortLists.set(connection, known);
  const key = JSON.stringify([jobId, stages]);
  const before = known.get(key);
  const now = performance.now();
  if (before?.unshown !== unshown) known.set(key, { unshown, since: now });
  else if (now - before.since >= SHORT_LIST_MS) return;
  throw new ConnectorError({
    code: 'STAGE_LIST_SHORT',
    action: 'retry',
    message:
      `The list of people hired on job ${jobId} ended with an empty page after ${listed} of them. Its total and the ` +
      `job's own count say that there are ${unshown} more, so nobody counts as having left. The list is read again. ` +
      'If it still ends there after an hour, the totals are taken to be wrong.',
    details: { jobId, listed, unshown },
  });
}

/**
 * New people come last, so if the list was long, its last known page is read first. Only the whole list shows that a
 * person is missing.
 */
async function findOnPage(
  connection: Connection,
  list: StageList,
  length: { pages: number },
  missing: Set<string>,
): Promise<void> {
  try {
    const shown = await readStagePage(connection, list, length.pages, 'live');
    for (const member of shown?.members ?? []) missing.delete(member.jobCandidateId);
  } catch (error) {
    // The list may have become shorter, and some partners refuse a page behind the end.
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    length.pages = 0;
  }
}

/** Number of pages last seen, by open connection and list. */
const lengths = new WeakMap<Connection, Map<string, { pages: number }>>();

function lengthOf(connection: Connection, list: StageList): { pages: number } {
  const known = lengths.get(connection) ?? new Map<string, { pages: number }>();
  lengths.set(connection, known);
  const key = JSON.stringify(list);
  const length = known.get(key) ?? { pages: 0 };
  known.set(key, length);
  return length;
}

async function findByFilter(
  store: Store,
  connection: Connection,
  looks: readonly MembershipLook[],
): Promise<Set<string>> {
  const isShown = await openFilter(store, connection, looks[0]?.stages ?? []);
  if (isShown === undefined) return new Set();
  const answers = await Promise.all(looks.map(async (look) => ((await isShown(look)) ? [look.jobCandidate.id] : [])));
  return new Set(answers.flat());
}

/** Asks the partner's filter for one person in these stages; undefined while nothing proves that it works. */
async function openFilter(
  store: Store,
  connection: Connection,
  stages: readonly string[],
): Promise<((look: MembershipLook) => Promise<boolean>) | undefined> {
  const { tenant, keyFingerprint } = connection;
  const filter = await readStageFilter(store, tenant.tenant, keyFingerprint, FILTER_PROVEN_FOR_MS);
  if (filter?.proven !== true) return undefined;
  const stageIds = stages.flatMap((stage) => filter.stageIds[stage] ?? []);
  return async ({ jobCandidate }) => {
    // Our store knows another application of this person, and the filter may mean that one.
    if (await hasOtherHire(store, tenant.tenant, jobCandidate.candidateId, jobCandidate.id)) return false;
    return (await askStageFilter(connection, stageIds, jobCandidate)) === 'shown';
  };
}

interface UnknownValue {
  /** The field's name in the contract. */
  field: string;
  value: string;
  /** What happens to the hires concerned and what may be done, in sentences. */
  goesOn: string;
}

/** Raises an alarm for each value of an enum that the specification does not name. */
export async function noteUnknownValue(
  store: Store,
  { tenant: { tenant: tenantId }, log }: Pick<Connection, 'tenant' | 'log'>,
  { field, value, goesOn }: UnknownValue,
): Promise<void> {
  // A text field may hold anything, so a value that does not look like an enum word is not shown.
  const shown = /^[\w .-]{1,40}$/.test(value) ? value : '(not a word)';
  const message =
    `The hiring platform sent ${field} "${shown}", which the specification does not name. ${goesOn} ` +
    'Ask the platform what it means.';
  const subject = `${field} ${shown}`;
  const trouble = { tenantId, kind: 'unknown-value', subject, reason: 'UNKNOWN_VALUE', message } as const;
  const { raised } = await noteTrouble(store, trouble, 0);
  if (raised)
    log?.warn({ tenantId, field, value: shown }, 'alarm raised: a value that the specification does not name');
}
