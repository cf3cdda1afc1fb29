import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import type { PullStream } from './stream.ts';

export const candidates: PullStream = {
  kind: 'pull',
  list: contract.candidates.list as ListEndpoint,
  fetch: contract.candidates.bulkFetch as ListEndpoint,
  record: { name: 'candidate', ...sourceRecords.candidate },
  landing: {
    givenName: { type: 'text' },
    familyName: { type: 'text' },
    email: { type: 'text' },
    phone: { type: 'text' },
    city: { type: 'text' },
    country: { type: 'text' },
    currentTitle: { type: 'text' },
    currentCompany: { type: 'text' },
    skills: { type: 'list' },
    createdAt: { type: 'text' },
    updatedAt: { type: 'text' },
  },
};
