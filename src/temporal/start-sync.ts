import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { ConnectorError } from '../errors.ts';
import type { HireTiming } from '../hire/hire-run.ts';
import type { StreamStep } from '../streams/stream-activities.ts';
import { type StreamName, workflowOf } from '../streams/streams.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, streamScheduleId, taskQueue } from './ids.ts';

/** What every workflow of a stream is started with, whatever its kind. */
export interface StreamStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  full?: boolean;
}

/**
 * Starts a run of a stream by hand, or returns the one that was started by hand and still runs. A request for a full
 * run is never answered by one that is not full.
 */
export async function startSync(
  { client, installationId, timing }: HireClient,
  { tenantId, stream, full }: Omit<StreamStart, 'timing'>,
): Promise<WorkflowHandle<(input: StreamStart) => Promise<StreamStep>>> {
  try {
    return await client.workflow.start<(input: StreamStart) => Promise<StreamStep>>(workflowOf(stream), {
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
