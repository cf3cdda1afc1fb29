import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import type { PullStream } from './stream.ts';

/**
 * Job candidates of all jobs. They are listed a stage type at a time, because no list shows them all (section 4.4). The
 * stage is no field of theirs: read by their ids they show none.
 */
export const applications: PullStream = {
  kind: 'pull',
  list: contract.jobCandidates.listByStageType as ListEndpoint,
  segments: stageTypes.map((stageType) => ({ stageType })),
  fetch: contract.jobCandidates.bulkFetch as ListEndpoint,
  toRecords: (item) => [
    'jobCandidateDetails' in item ? (item['jobCandidateDetails'] as Record<string, unknown>) : item,
  ],
  record: { name: 'jobCandidate', ...sourceRecords.jobCandidate },
  landing: {
    jobId: { type: 'text', required: true },
    candidateId: { type: 'text', required: true },
    profileMatchScore: { type: 'number' },
    evaluationStatus: { type: 'text' },
  },
};
