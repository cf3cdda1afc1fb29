import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import type { PullStream } from './stream.ts';

export const jobs: PullStream = {
  kind: 'pull',
  list: contract.jobs.list as ListEndpoint,
  record: { name: 'job', ...sourceRecords.job },
  landing: {
    title: { type: 'text', required: true },
    description: { type: 'text' },
    status: { type: 'text' },
    city: { type: 'text' },
    state: { type: 'text' },
    country: { type: 'text' },
    workMode: { type: 'text' },
    salaryFrom: { type: 'number' },
    salaryTo: { type: 'number' },
    salaryCurrency: { type: 'text' },
    createdAt: { type: 'text' },
  },
};
