import { type WorkflowHandle, WorkflowIdConflictPolicy } from '@temporalio/client';
import type { SyncInput, syncStream } from '../../workflows/sync-stream.ts';
import { attributes, streamScheduleId, taskQueue } from './ids.ts';
import type { HireClient } from './wake-hire.ts';

/** Begins one pass over a stream by hand, or gives the one that was begun by hand and runs. */
export async function startSync(
  { client, installationId, timing }: HireClient,
  { tenantId, stream, full }: Omit<SyncInput, 'timing' | 'begun'>,
): Promise<WorkflowHandle<typeof syncStream>> {
  return client.workflow.start<typeof syncStream>('syncStream', {
    // The schedule's own runs carry a time behind this id; which of two may work is decided in the store.
    workflowId: streamScheduleId(installationId, tenantId, stream),
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    taskQueue: taskQueue(installationId),
    args: [{ tenantId, stream, timing, full: full === true }],
    typedSearchAttributes: attributes(tenantId, stream),
    priority: { priorityKey: 3, fairnessKey: tenantId },
  });
}
