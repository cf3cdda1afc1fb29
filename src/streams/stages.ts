import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import type { Pipeline } from '../partner/contract/pipelines.ts';
import { lookupTable } from './lookup-table.ts';

/** Stages of all pipelines; they are shown within their pipelines alone (section 4.1). */
export const stages = lookupTable('stages', {
  list: contract.pipelines.list as ListEndpoint,
  toRecords(item) {
    const { id: pipelineId, stages: own } = item as Pipeline;
    return own.map(({ id, name, type }, index) => ({ id, name, type, pipelineId, order: index + 1 }));
  },
});
