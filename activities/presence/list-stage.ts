import type { UnreadableItem } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../src/partner/contract/job-candidate.ts';
import { stageTypes } from '../../src/partner/contract/pipelines.ts';
import type { Connection } from '../connections.ts';

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
      jobCandidateId: details.id,
      candidateId: details.candidateId,
      jobId: details.jobId,
      rejected: isRejected(details),
    }));
    yield { members, unreadable };
  }
}

/** Whoever is rejected stays in the stage they stood in (K10), and is hired no longer. */
export function isRejected({ evaluationStatus }: JobCandidate): boolean {
  return String(evaluationStatus).toUpperCase() === 'REJECTED';
}
