import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { lookupTable } from './lookup-table.ts';

/** Onboarding flows. */
export const flows = lookupTable('flows', {
  list: contract.onboarding.listFlows as ListEndpoint,
  toRecords: (item) => [{ ...item, id: item['flowId'] }],
});
