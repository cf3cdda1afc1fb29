import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { streamHintSignal } from '../../workflows/messages.ts';
import { ConnectorError } from '../errors.ts';
import type { HireTiming } from '../hire/hire.ts';
import type { StreamMode } from '../store/stream-tables.ts';
import type { StreamStep } from '../streams/stream-activities.ts';
import { type StreamName, workflowOf } from '../streams/streams.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, streamScheduleId, taskQueue } from './ids.ts';

/** The input of every stream workflow of any kind. */
export interface StreamStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  /** `incremental` if absent. */
  mode?: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** Only with `mode: one`. */
  recordId?: string;
  /** The run was started by a hint, and more hints may follow. */
  hinted?: boolean;
  /** Like `mode: full`, for workflows of streams that have no other mode. */
  full?: boolean;
}

type SyncWorkflow = (input: StreamStart) => Promise<StreamStep>;

/** A run that was started; it may be over. */
export interface SyncRun {
  workflowId: string;
  runId: string;
}

/** Waits for the end of a run that anybody may have started. */
export function endOfSync(
  { client }: HireClient,
  { workflowId, runId }: SyncRun,
  signal: AbortSignal,
): Promise<StreamStep> {
  const handle = client.workflow.getHandle<SyncWorkflow>(workflowId, runId);
  return client.withAbortSignal(signal, () => handle.result());
}

/** Has hinted records read again: by the run that an earlier hint began, or a new one. */
export async function hintStream(
  { client, installationId, timing }: HireClient,
  { tenantId, stream }: Pick<StreamStart, 'tenantId' | 'stream'>,
): Promise<void> {
  await client.workflow.signalWithStart(workflowOf(stream), {
    workflowId: `${streamScheduleId(installationId, tenantId, stream)}/hints`,
    taskQueue: taskQueue(installationId),
    args: [{ tenantId, stream, timing, hinted: true } satisfies StreamStart],
    signal: streamHintSignal,
    typedSearchAttributes: attributes(tenantId, stream),
    priority: { priorityKey: 3, fairnessKey: tenantId },
  });
}

/**
 * Starts a run of a stream by hand, or returns the one started by hand that still runs. A request for more than an
 * incremental run always needs a run of its own.
 */
export async function startSync(
  { client, installationId, timing }: HireClient,
  asked: Omit<StreamStart, 'timing' | 'hinted' | 'full'>,
): Promise<WorkflowHandleWithFirstExecutionRunId<SyncWorkflow>> {
  const { tenantId, stream, mode = 'incremental', rewrite = false } = asked;
  const isPlain = mode === 'incremental' && !rewrite;
  try {
    return await client.workflow.start<SyncWorkflow>(workflowOf(stream), {
      // The schedule's own runs have this id followed by a time; the store decides which of two may work.
      workflowId: streamScheduleId(installationId, tenantId, stream),
      workflowIdConflictPolicy: isPlain ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.FAIL,
      taskQueue: taskQueue(installationId),
      args: [{ ...asked, timing, full: mode === 'full' }],
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
      `Another run of ${tenantId} ${stream} is under way. Start this one when it has ended: hirebridge status ` +
      'shows it.',
  });
}
