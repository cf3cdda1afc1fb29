import type { Page, PageOptions, UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate, StageCandidate } from '../../src/partner/contract/job-candidate.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import type { Connection } from '../connections.ts';
import { onePage } from '../one-page.ts';

/** A stage of the policies is a type of these, or an id. */
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
  /** Of the whole list, where the partner says. */
  total?: number;
}

/** Everyone in a stage (id) or in all stages of a type: of one job, or of the whole company. */
export interface StageList {
  stage: string;
  jobId?: string;
}

/** Everyone of a job in a stage, page by page. */
export async function* listStage(
  connection: Connection,
  jobId: string,
  stage: string,
): AsyncGenerator<StagePage, void, undefined> {
  for await (const page of pagesOf(connection, { stage, jobId }, { priority: 'live' })) yield readStage(page);
}

/** One page of the list, from 1; undefined behind the last. A partner that ignores the number gives the first again. */
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

/** Whoever is rejected stays in the stage they stood in (K10), and is hired no longer. */
export function isRejected({ evaluationStatus }: JobCandidate): boolean {
  return String(evaluationStatus).toUpperCase() === 'REJECTED';
}
