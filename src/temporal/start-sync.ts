import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { streamHintSignal } from '../../workflows/messages.ts';
import { ConnectorError } from '../errors.ts';
import type { HireTiming } from '../hire/hire-run.ts';
import type { StreamMode } from '../store/stream-tables.ts';
import type { StreamStep } from '../streams/stream-activities.ts';
import { type StreamName, workflowOf } from '../streams/streams.ts';
import type { HireClient } from './hire-client.ts';
import { attributes, streamScheduleId, taskQueue } from './ids.ts';

/** What every workflow of a stream is started with, whatever its kind. */
export interface StreamStart {
  tenantId: string;
  stream: StreamName;
  timing: HireTiming;
  /** `incremental` where absent. */
  mode?: StreamMode;
  /** Writes every row again. */
  rewrite?: boolean;
  /** With `mode: one`. */
  recordId?: string;
  /** More hints may be on their way. */
  hinted?: boolean;
  /** As `mode: full`, for workflows of streams that have no other mode. */
  full?: boolean;
}

type SyncWorkflow = (input: StreamStart) => Promise<StreamStep>;

/** A run that was started, under way or over. */
export interface SyncRun {
  workflowId: string;
  runId: string;
}

/** The end of such a run, whoever started it. */
export function endOfSync(
  { client }: HireClient,
  { workflowId, runId }: SyncRun,
  signal: AbortSignal,
): Promise<StreamStep> {
  const handle = client.workflow.getHandle<SyncWorkflow>(workflowId, runId);
  return client.withAbortSignal(signal, () => handle.result());
}

/** Has the records read again that `hints` names: by the run that such a hint began, or a new one. */
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
 * Starts a run of a stream by hand, or returns the one that was started by hand and still runs. A request for more than
 * an incremental run is never answered by another run.
 */
export async function startSync(
  { client, installationId, timing }: HireClient,
  asked: Omit<StreamStart, 'timing' | 'hinted' | 'full'>,
): Promise<WorkflowHandleWithFirstExecutionRunId<SyncWorkflow>> {
  const { tenantId, stream, mode = 'incremental', rewrite = false } = asked;
  const isPlain = mode === 'incremental' && !rewrite;
  try {
    return await client.workflow.start<SyncWorkflow>(workflowOf(stream), {
      // The schedule's own runs carry a time behind this id; which of two may work is decided in the store.
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
      `Another run of ${tenantId} ${stream} is under way. ` +
      'Start this one when it is over: hirebridge status shows it.',
  });
}
