import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import type { SyncInput, syncStream } from '../../workflows/sync-stream.ts';
import { ConnectorError } from '../errors.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, streamScheduleId, taskQueue } from './ids.ts';

/**
 * Starts a run of a stream by hand, or returns the one that was started by hand and still runs. A request for a full
 * run is never answered by one that is not full.
 */
export async function startSync(
  { client, installationId, timing }: HireClient,
  { tenantId, stream, full }: Omit<SyncInput, 'timing' | 'begun'>,
): Promise<WorkflowHandle<typeof syncStream>> {
  try {
    return await client.workflow.start<typeof syncStream>('syncStream', {
      // The schedule's own runs carry a time behind this id; which of two may work is decided in the store.
      workflowId: streamScheduleId(installationId, tenantId, stream),
      workflowIdConflictPolicy: full === true ? WorkflowIdConflictPolicy.FAIL : WorkflowIdConflictPolicy.USE_EXISTING,
      taskQueue: taskQueue(installationId),
      args: [{ tenantId, stream, timing, full: full === true }],
      typedSearchAttributes: attributes(tenantId, stream),
      priority: { priorityKey: 3, fairnessKey: tenantId },
    });
  } catch (error) {
    throw error instanceof WorkflowExecutionAlreadyStartedError ? syncBusy(tenantId, stream) : error;
  }
}

export function syncBusy(tenantId: string, stream: string): ConnectorError {
  return new ConnectorError({
    code: 'SYNC_BUSY',
    action: 'retry',
    message:
      `Another run of ${tenantId} ${stream} is under way. ` +
      'Start this one when it is over: hirebridge status shows it.',
  });
}
