import { isConnectorError } from '../../src/errors.ts';
import type { Page, PageOptions, UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate, StageCandidate } from '../../src/partner/contract/job-candidates.ts';
import { stageTypes, systemStageTypes } from '../../src/partner/contract/pipelines.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { hiresInState } from '../../src/store/hires.ts';
import { readStageFilter, saveStageFilter } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { hiringStagesOf } from '../../src/tenants/schema.ts';
import type { Connection } from '../connections.ts';
import { fetchJobCandidates, onePage } from './fetch-job-candidates.ts';

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
  connection: Connection,
  list: StageList,
  page: number,
  priority: Priority = 'bulk',
): Promise<(StagePage & { records: number }) | undefined> {
  const shown = await onePage(pagesOf(connection, list, { priority, from: page }));
  return shown && { ...readStage(shown), records: shown.records };
}

function pagesOf({ partner }: Connection, { stage, jobId }: StageList, options: PageOptions) {
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
      const same = one.id === candidateId;
      return same && hasOnly(one.jobCandidateDetails, id) ? 'shown' : 'unclear';
    }
    return 'unclear';
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return 'unclear';
    throw error;
  }
}

/** A single object may be one of several applications (C15), so only a list of length one counts. */
function hasOnly(applications: unknown, jobCandidateId: string): boolean {
  if (!Array.isArray(applications) || applications.length !== 1) return false;
  const { id, jobCandidateId: named = id } = applications[0] as Record<string, unknown>;
  return String(named) === jobCandidateId;
}

/** If the list is shorter than a page, reading it costs no more than the filter would. */
const PAGE = 100;
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
  if (listed.memberIds.length <= PAGE) return;
  if ((await readStageFilter(store, tenant.tenant, key, RENEWED_AFTER_MS)) !== undefined) return;
  const stageIds = await readStageIds(connection);
  const wanted = hiringStagesOf(tenant).flatMap((stage) => stageIds[stage] ?? []);
  const proven = wanted.length > 0 && (await isProven(store, connection, wanted, listed).catch(notIfRefused));
  await saveStageFilter(store, tenant.tenant, { key, proven, stageIds });
}

function notIfRefused(error: unknown): false {
  if (isConnectorError(error) && error.action === 'reject') return false;
  throw error;
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
