import { sourceRecords } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import type { PullStream } from './stream.ts';

/** Enrolments and how far they are, from the one list that shows all flows (section 4.9). */
export const onboarding: PullStream = {
  kind: 'pull',
  list: contract.onboarding.listCandidates as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['onboardingCandidateId'] }],
  record: { name: 'onboarding', ...sourceRecords.onboarding },
  landing: {
    flowId: { type: 'text' },
    status: { type: 'text' },
    externalRef: { type: 'text' },
    enrolledAt: { type: 'text' },
  },
};
