import type { WorkflowSignalWithStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { bulkQueueOf, hintSignal } from '../../workflows/messages.ts';
import type { HintAbout, HireInput, HireTiming } from '../hire/hire.ts';

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

interface HireStart {
  tenantId: string;
  jobCandidateId: string;
  timing: HireTiming;
  adopt?: boolean;
  watch?: boolean;
  behind?: number;
}

/** Options to reach a hire's workflow: a running one gets the signal, otherwise one starts with it. */
export function hireStartOptions(
  installationId: string,
  hire: HireStart,
  about: HintAbout,
): WorkflowSignalWithStartOptions<[HintAbout]> & { args: [HireInput] } {
  const { tenantId, jobCandidateId } = hire;
  return {
    workflowId: hireWorkflowId(installationId, tenantId, jobCandidateId),
    taskQueue: taskQueue(installationId),
    args: [hire],
    signal: hintSignal,
    signalArgs: [about],
    typedSearchAttributes: attributes(tenantId, 'hire'),
    // Tenants share the workers fairly, and hires come before reconciles.
    priority: { priorityKey: 2, fairnessKey: tenantId },
  };
}

export function attributes(tenantId: string, flow: string): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: tenantKey, value: tenantId },
    { key: flowKey, value: flow },
  ]);
}

/** Search attributes of our workflows, with types. Ids and fixed words only, because they are not encrypted. */
export const searchAttributes = { TenantId: 'Keyword', Flow: 'Keyword', Stage: 'Keyword' } as const;
