import { isConnectorError } from '../../src/errors.ts';
import type { UnreadableItem } from '../../src/partner/client/types.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidate.ts';
import { hasOtherHire } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readStageFilter } from '../../src/store/stage-filters.ts';
import type { Connection } from '../connections.ts';
import { listStage, readStagePage, type StageList } from './list-stage.ts';
import { askStageFilter } from './stage-filter.ts';

/** Whether somebody is in one of these stages. */
export interface MembershipLook {
  jobCandidate: JobCandidate;
  stages: readonly string[];
  /** Their job as the jobs list showed it last. */
  job: Record<string, unknown> | undefined;
}

export interface Membership {
  inside: boolean;
  /** Not seen, and this record of the list could not be read: it may be theirs. */
  unreadable?: UnreadableItem;
}

const PAGE = 100;
/** Renewed by each day's full reconcile. */
const FILTER_PROVEN_FOR_MS = 2 * 86_400_000;

/**
 * Answers looks for people of one job in the same stages. Where asking for each of them costs less than the list, the
 * partner's filter is asked first. Whoever it does not show is looked for in the whole list: a filter proves no
 * absence.
 */
export async function readMemberships(
  store: Store,
  connection: Connection,
  looks: readonly MembershipLook[],
): Promise<Membership[]> {
  const stages = looks[0]?.stages ?? [];
  const jobId = looks[0]?.jobCandidate.jobId ?? '';
  const shown = await findByFilter(store, connection, looks);
  const rest = looks.map(({ jobCandidate }) => jobCandidate.id).filter((id) => !shown.has(id));
  const listed = await findInLists(connection, jobId, stages, new Set(rest));
  return looks.map(({ jobCandidate }) => {
    const { id } = jobCandidate;
    if (shown.has(id) || !listed.missing.has(id)) return { inside: true };
    return listed.unreadable === undefined ? { inside: false } : { inside: false, unreadable: listed.unreadable };
  });
}

async function findInLists(
  connection: Connection,
  jobId: string,
  stages: readonly string[],
  wanted: ReadonlySet<string>,
): Promise<{ missing: Set<string>; unreadable: UnreadableItem | undefined }> {
  const missing = new Set(wanted);
  let unreadable: UnreadableItem | undefined;
  for (const stage of stages) {
    if (missing.size === 0) break;
    const length = lengthOf(connection, { jobId, stage });
    if (length.pages > 1) await findOnPage(connection, { jobId, stage }, length, missing);
    if (missing.size === 0) break;
    let pages = 0;
    for await (const page of listStage(connection, jobId, stage)) {
      pages += 1;
      for (const member of page.members) missing.delete(member.jobCandidateId);
      unreadable ??= page.unreadable[0];
      if (missing.size === 0) break;
    }
    length.pages = missing.size === 0 ? Math.max(length.pages, pages) : pages;
  }
  return { missing, unreadable };
}

/**
 * Newcomers stand last: where the list was long, the page that was its last is looked at first. Only the whole list
 * shows that somebody is missing.
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
    // The list may have become shorter, and not every partner shows an empty page behind its end.
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    length.pages = 0;
  }
}

/** By open connection and list: how many pages of it were seen. */
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
  const { tenant, keyFingerprint } = connection;
  const stages = looks[0]?.stages ?? [];
  if (looks.length >= pagesOf(looks[0]?.job, stages)) return new Set();
  const filter = await readStageFilter(store, tenant.tenant, keyFingerprint, FILTER_PROVEN_FOR_MS);
  if (filter?.proven !== true) return new Set();
  const stageIds = stages.flatMap((stage) => filter.stageIds[stage] ?? []);
  const answers = await Promise.all(
    looks.map(async ({ jobCandidate }) => {
      const { id } = jobCandidate;
      // Our store knows of another application of theirs: the filter may speak of that one.
      if (await hasOtherHire(store, tenant.tenant, jobCandidate.candidateId, id)) return [];
      return (await askStageFilter(connection, stageIds, jobCandidate)) === 'shown' ? [id] : [];
    }),
  );
  return new Set(answers.flat());
}

/** How long the list is by the job's totals as seen last; only the cost depends on it. */
function pagesOf(job: MembershipLook['job'], stages: readonly string[]): number {
  const totals = job?.['pipelineStage'];
  if (!Array.isArray(totals)) return 1;
  const all = totals as { type?: unknown; totalCandidate?: unknown }[];
  const named = all.filter(({ type }) => stages.includes(String(type)));
  const people = (named.length > 0 ? named : all).reduce((sum, stage) => sum + (Number(stage.totalCandidate) || 0), 0);
  return Math.max(1, Math.ceil(people / PAGE));
}
