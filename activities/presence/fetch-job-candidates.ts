import { AsyncLocalStorage } from 'node:async_hooks';
import { type ConnectorError, isConnectorError, rejected, unlessRefused } from '../../src/errors.ts';
import { inActivity } from '../../src/failpoint.ts';
import { isNotShown, isRefusedByPartner } from '../../src/partner/client/read-answer.ts';
import type { Page, PageOptions, ReadItems, UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate, StageCandidate } from '../../src/partner/contract/job-candidates.ts';
import { stageTypes, systemStageTypes } from '../../src/partner/contract/pipelines.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { hiresInState } from '../../src/store/hires.ts';
import { countJobs, readJob, readStageFilter, saveStageFilter } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import { isAlone, noteCall } from '../activity-scope.ts';
import type { Connection } from '../connections.ts';

/**
 * The partner's answer for one id: the record, or why it cannot be read. Empty if the partner shows no record, which
 * does not prove that there is none.
 */
export interface Fetched {
  jobCandidate?: JobCandidate;
  unreadable?: string;
}

/** How long looks gather before a read: hires of one job come within moments of each other, and calls are scarce. */
const GATHER_MS = 25;

/** Reads the answers to looks that were asked together, in their order. */
type ReadTogether<Look, Answer> = (looks: readonly Look[]) => Promise<readonly Answer[]>;

interface Waiting<Look, Answer> {
  look: Look;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** The activity that asks. The read runs in the context of the first activity and counts as a call of each. */
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/** Fetches job candidates with one call, in the order asked for. */
export async function fetchJobCandidates(
  connection: Pick<Connection, 'partner'>,
  ids: readonly string[],
  priority: Priority = 'live',
): Promise<Fetched[]> {
  const { items, unreadable } = await readInHalves([...new Set(ids)], (jobCandidateIds) =>
    connection.partner.readAll(contract.jobCandidates.bulkFetch, { body: { jobCandidateIds } }, { priority }),
  );
  const broken = unreadable.map(({ id = '', reason }) => [id, { unreadable: reason }] as const);
  const found = new Map<string, Fetched>([...broken, ...items.map((one) => [one.id, { jobCandidate: one }] as const)]);
  return ids.map((id) => found.get(id) ?? {});
}

/**
 * Reads records by their ids with one call. A refusal, or a broken record without an id, says nothing about the other
 * ids, so they are asked for in halves until the bad id is alone. A record that is not shown is left out.
 */
export async function readInHalves<Item>(
  ids: readonly string[],
  read: (ids: string[]) => Promise<ReadItems<Item>>,
): Promise<ReadItems<Item>> {
  const [only = '', ...others] = ids;
  const isAlone = others.length === 0;
  try {
    const { items, unreadable } = await read([...ids]);
    const named = unreadable.map((one) => ({ ...one, id: one.id ?? only }));
    if (isAlone || unreadable.every(({ id }) => id !== undefined)) return { items, unreadable: named };
  } catch (error) {
    if (!isConnectorError(error) || !isRefusedByPartner(error)) throw error;
    if (isAlone && isNotShown(error.code)) return { items: [], unreadable: [] };
    if (isAlone) throw error;
  }
  const half = Math.ceil(ids.length / 2);
  const left = await readInHalves(ids.slice(0, half), read);
  const right = await readInHalves(ids.slice(half), read);
  return { items: [...left.items, ...right.items], unreadable: [...left.unreadable, ...right.unreadable] };
}

/** The page that a reading is at and its number of records; undefined if there is no page. */
export async function onePage<Item>(
  pages: AsyncGenerator<Page<Item>, void, undefined>,
): Promise<(Page<Item> & { records: number }) | undefined> {
  const next = await pages.next();
  if (next.done === true) return undefined;
  const { items, unreadable } = next.value;
  return { ...next.value, records: items.length + unreadable.length };
}

/**
 * Answers looks that wait at the same moment with one read, at most `most` looks with the same key. Only a read that
 * began after a look was asked may answer it: during a read, looks gather for the next one. A failed read fails all of
 * its looks. No caller's signal reaches the read, so a caller that leaves does not disturb the others. A command and
 * a tenant's only activity gather only what they ask at once.
 */
export function shareReads<Look, Answer>(
  keyOf: (look: Look) => unknown,
  read: ReadTogether<Look, Answer>,
  most = Number.POSITIVE_INFINITY,
): (look: Look) => Promise<Answer> {
  /** Waiting looks by key, while that key is being read. */
  const gathering = new Map<unknown, Waiting<Look, Answer>[]>();

  async function readOn(key: unknown, waiting: Waiting<Look, Answer>[]): Promise<void> {
    for (let waitMs = isAlone() ? 0 : GATHER_MS; waiting.length > 0; waitMs = GATHER_MS) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await answer(waiting.splice(0, most), read);
    }
    gathering.delete(key);
  }

  return (look) =>
    new Promise((resolve, reject) => {
      const key = keyOf(look);
      const one = { look, resolve, reject, inContext: AsyncLocalStorage.snapshot() };
      const others = gathering.get(key);
      if (others !== undefined) return void others.push(one);
      const waiting = [one];
      gathering.set(key, waiting);
      void readOn(key, waiting);
    });
}

const REPEAT_AFTER_MS = [50, 250];

/** Repeats a read whose answer was lost, so that its looks need not fail and retry one by one. */
export async function repeated<T>(read: () => Promise<T>): Promise<T> {
  for (const waitMs of REPEAT_AFTER_MS)
    try {
      return await read();
    } catch (error) {
      if (!isConnectorError(error) || error.action !== 'retry' || error.retryAfterMs !== undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  return read();
}

async function answer<Look, Answer>(
  together: readonly Waiting<Look, Answer>[],
  read: ReadTogether<Look, Answer>,
): Promise<void> {
  const looks = together.map((one) => one.look);
  try {
    // Chance decides which look came first, so the failpoints of a read belong to no single activity.
    const answers = await together[0]?.inContext(() => inActivity('sharedRead', () => repeated(() => read(looks))));
    for (const [index, one] of together.entries()) {
      one.inContext(noteCall);
      one.resolve(answers?.[index] as Answer);
    }
  } catch (error) {
    for (const one of together) one.reject(error);
  }
}

type JobRecord = Record<string, unknown>;

/** Records per page of a list; a tenant with fewer jobs reads their whole list with one call. */
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
  if (wanted.some((id) => !shown.has(id))) {
    const { items, unreadable: broken } = await connection.partner.readAll(
      contract.jobs.list,
      {},
      { priority: 'live' },
    );
    for (const { id, reason } of broken) if (id !== undefined) shown.set(id, { unreadable: reason });
    for (const job of items) shown.set(job.id, { job });
  }
  return ids.map((id) => shown.get(id) ?? { job: undefined });
}

/** A partner that ignores the filter shows its first page, which may hold the job as well. */
async function takeFirstPage({ partner }: Connection, jobTitle: string, shown: Map<string, Shown>): Promise<void> {
  for await (const { items } of partner.pages(contract.jobs.list, { query: { jobTitle } }, { priority: 'live' })) {
    for (const job of items) shown.set(job.id, { job });
    return;
  }
}

function unreadable(jobId: string, reason: string): ConnectorError {
  return rejected(
    'JOB_UNREADABLE',
    `The partner's record of job ${jobId} does not fit the contract (${reason}), so no employee can be created ` +
      'from it. Correct it with the partner.',
  );
}

/** A stage in the policies is one of these types, or an id. */
const types: ReadonlySet<string> = new Set(stageTypes);

export interface StageMember {
  jobCandidateId: string;
  candidateId: string;
  jobId: string;
  rejected: boolean;
}

export interface StagePage {
  members: StageMember[];
  unreadable: UnreadableItem[];
  /** Length of the whole list, if the partner states it. */
  total?: number;
}

/** Which list to read: a stage (by id) or all stages of a type, of one job or of the whole company. */
export interface StageList {
  stage: string;
  jobId?: string;
}

/** Lists everyone in a stage, page by page. */
export async function* listStage(
  connection: Connection,
  list: StageList,
  priority: Priority,
): AsyncGenerator<StagePage, void, undefined> {
  for await (const page of pagesOf(connection, list, { priority })) yield readStage(page);
}

/**
 * Reads one page of the list, starting at 1; undefined after the last page. A partner that ignores the page number
 * returns the first page again.
 */
export async function readStagePage(
  connection: Pick<Connection, 'partner'>,
  list: StageList,
  page: number,
  priority: Priority = 'bulk',
): Promise<(StagePage & { records: number }) | undefined> {
  const shown = await onePage(pagesOf(connection, list, { priority, from: page }));
  return shown && { ...readStage(shown), records: shown.records };
}

function pagesOf({ partner }: Pick<Connection, 'partner'>, { stage, jobId }: StageList, options: PageOptions) {
  const { listByStageType, listByStage } = contract.jobCandidates;
  const query = jobId === undefined ? {} : { jobId };
  return types.has(stage)
    ? partner.pages(listByStageType, { query: { stageType: stage as 'HIRED', ...query } }, options)
    : partner.pages(listByStage, { params: { stageId: stage }, query }, options);
}

function readStage({ items, unreadable, total }: Page<StageCandidate>): StagePage {
  const members = items.map(({ jobCandidateDetails: details }) => ({
    jobCandidateId: details.id,
    candidateId: details.candidateId,
    jobId: details.jobId,
    rejected: isRejected(details),
  }));
  return { members, unreadable, ...(total === undefined ? {} : { total }) };
}

/** A rejected candidate stays in their stage (K10) but no longer counts as hired. */
export function isRejected({ evaluationStatus }: JobCandidate): boolean {
  return String(evaluationStatus).toUpperCase() === 'REJECTED';
}

/**
 * Asks GET /candidates/list (section 4.3) whether one person is in these stages. `shown`: this application is in one of
 * them, provided that a probe has proven the filter. `not-shown` and `unclear` prove nothing.
 *
 * A person with two applications may match through the other one, so only a person shown with a single application
 * counts. The query omits `jobIds` on purpose: a partner that then shows only these jobs' applications would hide the
 * second one.
 */
export async function askStageFilter(
  { partner }: Connection,
  stageIds: readonly number[],
  { id, candidateId, candidate_details: person }: JobCandidate,
): Promise<'shown' | 'not-shown' | 'unclear'> {
  const candidateEmail = person?.email;
  if (typeof candidateEmail !== 'string' || candidateEmail === '' || stageIds.length === 0) return 'unclear';
  const query = { candidateEmail, stageIds: [...stageIds], includeJobApplicationDetails: true };
  const options = { priority: 'live', size: 10 } as const;
  try {
    // Read the first page only: a partner that ignores the filter lists everybody.
    for await (const { items, unreadable } of partner.pages(contract.candidates.list, { query }, options)) {
      const [one, ...others] = items;
      if (unreadable.length > 0 || others.length > 0) return 'unclear';
      if (one === undefined) return 'not-shown';
      const applications = one.jobCandidateDetails as unknown;
      // A single object may be one of several applications (C15), so only a list of length one counts.
      if (one.id !== candidateId || !Array.isArray(applications) || applications.length !== 1) return 'unclear';
      const { id: own, jobCandidateId: named = own } = applications[0] as Record<string, unknown>;
      return String(named) === id ? 'shown' : 'unclear';
    }
    return 'unclear';
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return 'unclear';
    throw error;
  }
}

const RENEWED_AFTER_MS = 86_400_000;
/** How many people of each kind to try, in case one has several applications or no e-mail. */
const MOST_EXAMPLES = 3;

/** Everybody of one job in the hiring stages, as listed a moment ago. */
export interface ListedStage {
  jobId: string;
  memberIds: readonly string[];
}

/**
 * Tests GET /candidates/list on this partner with people of one job: it must show a person who is in the hiring stages,
 * and nobody who is elsewhere on that job or has left. The result, even a failure, is stored for this key.
 */
export async function proveStageFilter(store: Store, connection: Connection, listed: ListedStage): Promise<void> {
  const { tenant, keyFingerprint: key } = connection;
  // If the list is shorter than a page, reading it costs no more than the filter would.
  if (listed.memberIds.length <= PAGE) return;
  if ((await readStageFilter(store, tenant.tenant, key, RENEWED_AFTER_MS)) !== undefined) return;
  const stageIds = await readStageIds(connection);
  const wanted = hiringStagesOf(tenant).flatMap((stage) => stageIds[stage] ?? []);
  const isShown = wanted.length > 0 && (await isProven(store, connection, wanted, listed).catch(unlessRefused));
  const proven = isShown === true;
  await saveStageFilter(store, tenant.tenant, { key, proven, stageIds });
}

async function isProven(
  store: Store,
  connection: Connection,
  stageIds: readonly number[],
  listed: ListedStage,
): Promise<boolean> {
  const ask = (people: readonly JobCandidate[]) =>
    Promise.all(people.map((person) => askStageFilter(connection, stageIds, person)));
  const inside = await fetchReadable(connection, listed.memberIds.slice(-MOST_EXAMPLES));
  if (!(await ask(inside)).includes('shown')) return false;
  const elsewhere = [...(await findLeavers(store, connection, listed)), ...(await findOutsiders(connection, listed))];
  const answers = await ask(elsewhere);
  return answers.includes('not-shown') && !answers.includes('shown');
}

async function fetchReadable(connection: Connection, ids: readonly string[]): Promise<JobCandidate[]> {
  if (ids.length === 0) return [];
  const fetched = await fetchJobCandidates(connection, ids);
  return fetched.flatMap(({ jobCandidate }) =>
    jobCandidate === undefined || isRejected(jobCandidate) ? [] : jobCandidate,
  );
}

/** People who left the hiring stages: a filter that matches past stages would show them. */
async function findLeavers(store: Store, connection: Connection, listed: ListedStage): Promise<JobCandidate[]> {
  const hires = await hiresInState(store, connection.tenant.tenant, 'left');
  const left = hires.filter((hire) => hire.job_id === listed.jobId).map((hire) => hire.job_candidate_id);
  const absent = left.filter((id) => !listed.memberIds.includes(id));
  return fetchReadable(connection, absent.slice(-MOST_EXAMPLES));
}

/**
 * People on the same job in another stage: a filter that ignores the stage, or combines conditions with "or", would
 * show them.
 */
async function findOutsiders({ partner, tenant }: Connection, listed: ListedStage): Promise<JobCandidate[]> {
  const { listByStageType } = contract.jobCandidates;
  const stages = hiringStagesOf(tenant);
  const members = new Set(listed.memberIds);
  const found: JobCandidate[] = [];
  for (const stageType of stageTypes.filter((type) => !stages.includes(type))) {
    const query = { stageType, jobId: listed.jobId };
    for await (const { items } of partner.pages(listByStageType, { query }, { priority: 'bulk', size: 10 })) {
      const people = items.map((item) => ({ ...item.jobCandidateDetails, candidate_details: item.candidate_details }));
      found.push(...people.filter((one) => !members.has(one.id) && !isRejected(one)));
      break;
    }
    if (found.length >= MOST_EXAMPLES) break;
  }
  return found.slice(0, MOST_EXAMPLES);
}

/**
 * Takes ids only of stages with a fixed type (section 2.1), because the type of any other stage may change unnoticed.
 */
async function readStageIds({ partner, tenant }: Connection): Promise<Record<string, number[]>> {
  const { items } = await partner.readAll(contract.pipelines.list, {}, { priority: 'bulk' });
  const all = items.flatMap((pipeline) => pipeline.stages ?? []);
  const idsOf = (stage: string): number[] => {
    if (/^\d+$/.test(stage)) return [Number(stage)];
    return fixed.has(stage) ? all.filter(({ type }) => type === stage).map(({ id }) => Number(id)) : [];
  };
  return Object.fromEntries(hiringStagesOf(tenant).map((stage) => [stage, idsOf(stage)]));
}

const fixed: ReadonlySet<string> = new Set(systemStageTypes);
