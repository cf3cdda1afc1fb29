import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import type { PullStream } from './stream.ts';

/**
 * Job candidates of all jobs. They are listed a stage type at a time, because no list shows them all (section 4.4). The
 * stage is no field of theirs: its type is known by the list that shows them, so it is as of the last whole pass. Which
 * stage of that type, no list of types tells.
 */
export const applications: PullStream = {
  kind: 'pull',
  list: contract.jobCandidates.listByStageType as ListEndpoint,
  segments: stageTypes.map((stageType) => ({ stageType })),
  fetch: contract.jobCandidates.bulkFetch as ListEndpoint,
  toRecords: (item, { stageType }) => [
    'jobCandidateDetails' in item ? { ...(item['jobCandidateDetails'] as object), stageType } : item,
  ],
  record: { name: 'jobCandidate', fields: [...sourceRecords.jobCandidate.fields, 'stageType'] },
  listOnly: ['stageType'],
  landing: {
    jobId: { type: 'text', required: true },
    candidateId: { type: 'text', required: true },
    profileMatchScore: { type: 'number' },
    evaluationStatus: { type: 'text' },
  },
};
