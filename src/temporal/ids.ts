import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { bulkQueueOf } from '../../workflows/messages.ts';

const tenantKey = defineSearchAttributeKey('TenantId', SearchAttributeType.KEYWORD);
const flowKey = defineSearchAttributeKey('Flow', SearchAttributeType.KEYWORD);

/** Queue of workflows and hires. It belongs to the store: a worker with another store never receives its tasks. */
export function taskQueue(installationId: string): string {
  return `${installationId}/work`;
}

/** Queue of the activities of reconciles and streams. */
export function bulkTaskQueue(installationId: string): string {
  return bulkQueueOf(taskQueue(installationId));
}

export function hireWorkflowId(installationId: string, tenantId: string, jobCandidateId: string): string {
  return `${installationId}/hire/${tenantId}/${jobCandidateId}`;
}

export function reconcileScheduleId(installationId: string, tenantId: string): string {
  return `${installationId}/reconcile/${tenantId}`;
}

export function streamScheduleId(installationId: string, tenantId: string, stream: string): string {
  return `${installationId}/sync/${tenantId}/${stream}`;
}

export function attributes(tenantId: string, flow: string): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: tenantKey, value: tenantId },
    { key: flowKey, value: flow },
  ]);
}

/** Search attributes of our workflows, with types. Ids and fixed words only, because they are not encrypted. */
export const searchAttributes = { TenantId: 'Keyword', Flow: 'Keyword', Stage: 'Keyword' } as const;
