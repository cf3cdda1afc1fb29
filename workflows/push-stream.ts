import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { HireTiming } from '../src/hire/hire-run.ts';
import type { PushActivities, StreamStep } from '../src/streams/stream-activities.ts';
import type { PushName } from '../src/streams/streams.ts';
import { streamOptions } from './stream-options.ts';

export interface PushRun {
  tenantId: string;
  stream: PushName;
  timing: HireTiming;
  /** Begins at the beginning. */
  full?: boolean;
  /** The run before this one, when it continues it. */
  begun?: boolean;
}

/** One pass over what the HRIS tells the partner. Cursor, counts and records are the store's. */
export async function pushStream(input: PushRun): Promise<StreamStep> {
  const { tenantId, stream, full = false } = input;
  const { pushRecords } = proxyActivities<PushActivities>(streamOptions(input));
  const runId = workflowInfo().firstExecutionRunId;
  for (let begun = input.begun ?? false; ; begun = true) {
    const step = await pushRecords({ tenantId, stream, runId, full, begun });
    if (step.state !== 'running') return step;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof pushStream>({ ...input, begun: true });
  }
}
